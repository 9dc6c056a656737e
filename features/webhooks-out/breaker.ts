/**
 * The circuit breaker of an endpoint (DU-12): after some failures in a row one attempt at a time probes it, and after a
 * success it gets its full pace step by step.
 */
import type { BreakerState } from './contract.ts';

/** Failures in a row that open it. */
export const OPEN_AFTER = 5;
/** Most attempts under way at one endpoint. */
export const ENDPOINT_PLACES = 20;
/** Most attempts under way for a tenant, apart from one at each endpoint. */
export const TENANT_PLACES = 40;

/** A change of `failures` or `pace` is a write to the webhook's row. */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number;
  /** How many attempts may be under way: 1 while it is open, then one more with each success. */
  readonly pace: number;
}

/** As answers show it. `half-open`: the next attempt is due or under way, and decides. */
export function showBreaker({
  failures,
  retry_at: at,
}: {
  readonly failures: number;
  readonly retry_at: Date;
}) {
  const isOpen = failures >= OPEN_AFTER;
  const state: BreakerState = !isOpen ? 'closed' : at.getTime() > Date.now() ? 'open' : 'half-open';
  return { state, failures, next_attempt_at: isOpen ? at : null };
}

/** How many more attempts an endpoint may start. One that has none under way always gets one. */
export function freePlaces(
  { failures, pace }: Breaker,
  running: number,
  { share, tenant }: { readonly share: number; readonly tenant: number },
): number {
  const own = (failures < OPEN_AFTER ? pace : 1) - running;
  return Math.max(Math.min(own, share, TENANT_PLACES - tenant), own > 0 && running === 0 ? 1 : 0);
}

/** The endpoint works, and wants nothing for `wait` milliseconds; then it gets its pace step by step. */
export function afterPause(wait: number): Breaker & { readonly wait: number } {
  return { failures: 0, pace: 1, wait };
}

export interface ProbeTimes {
  /** Milliseconds from the failure that opens it to the first probe; each later wait is twice as long. */
  readonly first: number;
  readonly longest: number;
}

/**
 * After an attempt that the endpoint accepted, or not. `wait` is milliseconds until the next attempt, up to a tenth more
 * so that endpoints that failed together are not probed together.
 */
export function afterAttempt(
  { failures, pace }: Breaker,
  isAccepted: boolean,
  { first, longest }: ProbeTimes,
  random: () => number,
): Breaker & { readonly wait: number } {
  if (isAccepted) return { failures: 0, pace: Math.min(pace + 1, ENDPOINT_PLACES), wait: 0 };
  const probes = failures + 1 - OPEN_AFTER;
  if (probes < 0) return { failures: failures + 1, pace, wait: 0 };
  const usual = Math.min(first * 2 ** Math.min(probes, 30), longest);
  return { failures: failures + 1, pace: 1, wait: Math.round(usual * (1 + random() / 10)) };
}
