/** Outgoing webhooks (IN-4): what is delivered, when it is retried, and how much waits. */

/** The kind of a delivery without an event, which tests whether somebody is reached at all. It is tried once. */
export const NOTIFY_TEST = 'approval.test';
export const NOTIFY_WORDS = 'Approvals are told here. This is a test; nothing has to be done about it.';

/** Seconds between attempts: the schedule of the Standard Webhooks specification. */
export const RETRY_SECONDS: readonly number[] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Of the circuit breaker of a webhook's endpoint (breaker.ts). */
export const BREAKER_STATES = ['closed', 'open', 'half-open'] as const;
export type BreakerState = (typeof BREAKER_STATES)[number];

/** Webhooks of a tenant. Each is matched with each event. */
export const MAX_WEBHOOKS = 100;

/** Deliveries that wait for one webhook. When there are more, the oldest have failed. */
export const MAX_WAITING = 10_000;

/** A delivery that has not come through for so long has failed. */
export const LONGEST_WAIT_DAYS = 5;

/** How long the previous secret also signs, unless a rotation says otherwise. */
export const ROTATION_SECONDS = 86_400;

/** Thoughts, and parts of what `message.completed` and `tool.completed` contain whole: too many to be delivered one by one. */
const PIECES: ReadonlySet<string> = new Set([
  'message.thinking',
  'message.delta',
  'message.reset',
  'tool.output',
]);

/** Checks what `events` of a webhook may name: a kind, all of a group as `approval.*`, or `*`. */
export function eventProblem(required: string, kinds: readonly string[]): string | undefined {
  if (required === '*') return undefined;
  if (PIECES.has(required))
    return `${required} is a piece of a stream; read GET /v1/sessions/{key}/events for it`;
  const isKnown = required.endsWith('.*')
    ? kinds.some((kind) => kind.startsWith(required.slice(0, -1)))
    : kinds.includes(required);
  return isKnown ? undefined : `${required} is no kind of event; known: *, ${kinds.join(', ')}`;
}

/**
 * Milliseconds until the next attempt: up to a tenth more, so that what failed together is not retried together.
 * Undefined if none is left.
 */
export function retryDelay(
  schedule: readonly number[],
  attempts: number,
  random: () => number,
): number | undefined {
  const seconds = schedule[attempts - 1];
  return seconds === undefined ? undefined : Math.round(seconds * 1000 * (1 + random() / 10));
}

const MAILTO = 'mailto:';

/** The address that a webhook mails to; undefined when it is called over HTTP. */
export function mailAddressOf(url: string): string | undefined {
  return url.startsWith(MAILTO) ? url.slice(MAILTO.length) : undefined;
}
