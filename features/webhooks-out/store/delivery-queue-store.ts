/**
 * The queues of deliveries, one for each webhook: which may be sent, who sends each, and what became of an attempt.
 * Claims and records of a tenant wait for each other, so that its limits and the order of its sessions hold.
 */
import { sql } from 'kysely';
import {
  afterAttempt,
  afterPause,
  type Breaker,
  freePlaces,
  OPEN_AFTER,
  type ProbeTimes,
} from '../breaker.ts';
import { LONGEST_WAIT_DAYS, MAX_WAITING } from '../contract.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { DeliveryBasis } from './delivery-store.ts';
import type { DeliveryStatus } from './webhook-store.ts';

/** Seconds for which a claim holds without being renewed; then another process may send the delivery. */
export const LEASE_SECONDS = 15;
/** Rows of one webhook whose order in their sessions one claim checks. */
const MAX_EXAMINED = 200;

/** A claim can wait for the next look, which it delays for other tenants. */
const CLAIM_PATIENCE = '1s';
/** What is not recorded is sent again. */
const RECORD_PATIENCE = '10s';

/** Whether deliveries may be due; costs a lookup in an index. */
export const HAS_DUE = `exists (select from webhook_deliveries 
  where status = 'pending' and not held_back and next_at > '-infinity' and next_at <= now())`;

/** The delivery that the session of `d` waits for. Its order is that of an index, so each lookup costs the same. */
const FIRST_OF_SESSION = sql`(select e.id from webhook_deliveries e
  where e.tenant_id = d.tenant_id and e.webhook_id = d.webhook_id and e.session_key = d.session_key and e.status = 'pending'
  order by e.event_id, (e.post is not null), e.created_at, e.id limit 1)`;

export interface DueEndpoint {
  readonly tenant: string;
  readonly webhook: string;
  readonly enabled: boolean;
}

/**
 * The webhooks of all tenants that have a delivery to send, and disabled ones with deliveries that wait. The cost
 * depends on how many webhooks wait, not on how many deliveries do.
 */
export function listDueEndpoints(pool: Pool): Promise<DueEndpoint[]> {
  return readRows<DueEndpoint>(pool)`
    with recursive waiting as (
      (select tenant_id, webhook_id from webhook_deliveries
        where status = 'pending' and not held_back and next_at < 'infinity' order by tenant_id, webhook_id limit 1)
      union all
      select next.tenant_id, next.webhook_id from waiting w cross join lateral (
        select d.tenant_id, d.webhook_id from webhook_deliveries d
        where d.status = 'pending' and not d.held_back and d.next_at < 'infinity'
          and (d.tenant_id, d.webhook_id) > (w.tenant_id, w.webhook_id)
        order by d.tenant_id, d.webhook_id limit 1) next)
    select w.tenant_id as tenant, w.id as webhook, w.enabled
    from waiting join webhooks w on w.tenant_id = waiting.tenant_id and w.id = waiting.webhook_id
    where w.tenant_id not in (select id from tenants where frozen_at is not null) and (not w.enabled or (w.retry_at <= now() and exists (select from webhook_deliveries d
      where d.tenant_id = w.tenant_id and d.webhook_id = w.id and d.status = 'pending' and not d.held_back
        and d.next_at < 'infinity' and d.next_at <= now() and (d.claimed_until is null or d.claimed_until <= now()))))`;
}

/** The right to send one delivery. */
export interface Claim {
  readonly id: string;
  /** Belongs to this claim alone: what a later claim has taken over is no longer recorded by it. */
  readonly fence: number;
}

export interface Claims {
  readonly claims: readonly Claim[];
  /** True if some were found to wait for earlier ones, so that others may be due behind them. */
  readonly hasMore: boolean;
}

/**
 * Claims what may be sent of these webhooks of the tenant: `share` in all, or one of each. The order is random, so that
 * no webhook is always the last to get a place. Each delivery goes to one caller.
 * With an open breaker it is one delivery at a time: the one that has waited longest for an attempt, so that a delivery
 * that alone is refused does not keep the endpoint closed for all.
 */
export function claimDeliveries(db: TenantDb, webhooks: readonly string[], share: number): Promise<Claims> {
  return inTransaction(db, async (tx) => {
    await lockQueues(tx, CLAIM_PATIENCE);
    const endpoints = await readRows<
      Breaker & { id: string; ordered: boolean; running: number; tenant: number }
    >(tx)`
      with running as materialized (
        select webhook_id, count(*)::int as count from webhook_deliveries
        where tenant_id = ${tx} and claimed_until is not null and claimed_until > statement_timestamp() group by webhook_id)
      select w.id, w.ordered, w.failures, w.pace, coalesce((select count from running where webhook_id = w.id), 0) as running,
        coalesce((select sum(count) from running), 0)::int as tenant
      from webhooks w
      where w.tenant_id = ${tx} and w.id = any (${[...webhooks]}::uuid[]) and w.enabled and w.retry_at <= statement_timestamp()
        and not exists (select from tenants where id = ${tx} and frozen_at is not null)
      order by random()`;
    const claims: Claim[] = [];
    let hasMore = false;
    for (const { running, tenant, ...endpoint } of endpoints) {
      const free = freePlaces(endpoint, running, {
        share: share - claims.length,
        tenant: tenant + claims.length,
      });
      if (free <= 0) continue;
      const rows = await claimOf(tx, endpoint, free);
      claims.push(...rows.filter(({ held_back }) => !held_back));
      hasMore ||= rows.some(({ held_back }) => held_back);
    }
    return { claims, hasMore };
  });
}

function claimOf(
  tx: TenantTx,
  { id, ordered }: { readonly id: string; readonly ordered: boolean },
  free: number,
): Promise<(Claim & { readonly held_back: boolean })[]> {
  return readRows<Claim & { held_back: boolean }>(tx)`
    with examined as (
      select d.ctid as row, d.next_at, ${ordered}::boolean and d.id <> ${FIRST_OF_SESSION} as waits
      from webhook_deliveries d where d.tenant_id = ${tx} and d.webhook_id = ${id} and d.status = 'pending' and not d.held_back
        and d.next_at < 'infinity' and d.next_at <= statement_timestamp() and (d.claimed_until is null or d.claimed_until <= statement_timestamp())
      order by d.next_at limit ${ordered ? MAX_EXAMINED : free}),
    taken as (select * from (
      select row, waits, row_number() over (partition by waits order by next_at) as place from examined) e
      where waits or place <= ${free})
    update webhook_deliveries d set held_back = taken.waits, fence = d.fence + 1,
      claimed_until = case when not taken.waits then statement_timestamp() + make_interval(secs => ${LEASE_SECONDS}) end
    from taken where d.ctid = taken.row and d.status = 'pending'
    returning d.id, d.fence, d.held_back`;
}

/** Claims and records of one tenant, one after the other: a few milliseconds each. `patience` is for all its locks. */
async function lockQueues(tx: TenantTx, patience: string): Promise<void> {
  await readRow(tx)`
    select set_config('lock_timeout', ${patience}, true), pg_advisory_xact_lock(hashtextextended('webhook_deliveries ' || ${tx}, 0))`;
}

/** Renews claims of all tenants, or ends them by 0 seconds, and returns those that were held. Safe to repeat. */
export function renewClaims(
  pool: Pool,
  claims: readonly (Claim & { readonly tenant: string })[],
  seconds = LEASE_SECONDS,
): Promise<(Claim & { readonly tenant: string })[]> {
  return readRows<Claim & { tenant: string }>(pool)`
    update webhook_deliveries d set claimed_until = now() + make_interval(secs => ${seconds})
    from unnest(${claims.map(({ tenant }) => tenant)}::text[], ${claims.map(({ id }) => id)}::text[],
      ${claims.map(({ fence }) => fence)}::int[]) as own (tenant, id, fence)
    where d.tenant_id = own.tenant and d.id = own.id and d.fence = own.fence and d.claimed_until is not null
    returning own.tenant, own.id, own.fence`;
}

/** One attempt: accepted, to be retried after `wait` milliseconds, or given up. */
export interface AttemptRecord {
  readonly status: DeliveryStatus;
  readonly answered: number | null;
  readonly problem: string | null;
  readonly wait?: number | undefined;
  /** The receiver requested the wait, so it does not count as one of the tries. */
  readonly isWait?: boolean;
  /** Milliseconds for which the receiver wants nothing at all. */
  readonly pause?: number | undefined;
  /** The receiver wants no more deliveries. */
  readonly gone?: boolean;
  /** Whether the endpoint works, as far as the attempt shows. */
  readonly works?: boolean | undefined;
}

/** What failures lead to. */
export interface FailureTimes {
  readonly probes: ProbeTimes;
  /** Seconds without a success after which the webhook is disabled. */
  readonly disableAfter: number;
}

/**
 * Records an attempt: the delivery, the breaker of its endpoint and, if the delivery has ended, the next one of its
 * session. Does nothing when the claim no longer holds. Safe to repeat.
 */
export function recordAttempt(
  db: TenantDb,
  delivery: DeliveryBasis,
  fence: number,
  record: AttemptRecord,
  times: FailureTimes,
): Promise<void> {
  const { status, answered, problem, wait = 0, isWait = false } = record;
  return inTransaction(db, async (tx) => {
    await lockQueues(tx, RECORD_PATIENCE);
    const isOwn = await affects(tx)`
      update webhook_deliveries set status = ${status}, attempts = attempts + 1, waits = waits + ${isWait ? 1 : 0},
        last_status = ${answered}, problem = ${problem}, claimed_until = null,
        next_at = statement_timestamp() + make_interval(secs => ${wait / 1000}),
        ended_at = case when ${status} <> 'pending' then statement_timestamp() end
      where tenant_id = ${tx} and id = ${delivery.id} and claimed_until is not null and fence = ${fence}`;
    if (!isOwn) return;
    if (status !== 'pending' && delivery.webhook.ordered) await releaseNext(tx, delivery);
    await recordEndpoint(tx, delivery.webhook_id, record, times);
  });
}

async function releaseNext(
  tx: TenantTx,
  { webhook_id, session_key }: Pick<DeliveryBasis, 'webhook_id' | 'session_key'>,
): Promise<void> {
  await execute(tx)`
    update webhook_deliveries d set held_back = false
    where d.tenant_id = ${tx} and d.webhook_id = ${webhook_id} and d.session_key = ${session_key}
      and d.status = 'pending' and d.held_back and d.id = ${FIRST_OF_SESSION}`;
}

interface EndpointBefore extends Breaker {
  readonly is_waiting: boolean;
  /** Seconds without a success; null if the last delivery succeeded. */
  readonly failing_for: number | null;
}

/** A webhook that was disabled or deleted meanwhile stays as it is. */
async function recordEndpoint(
  tx: TenantTx,
  id: string,
  record: AttemptRecord,
  { probes, disableAfter }: FailureTimes,
): Promise<void> {
  const { works } = record;
  if (works === undefined) return;
  const before = await readRow<EndpointBefore>(tx)`
    select failures, pace, retry_at > statement_timestamp() as is_waiting,
      extract(epoch from statement_timestamp() - failing_since)::float8 as failing_for
    from webhooks where tenant_id = ${tx} and id = ${id} and enabled for no key update`;
  if (!before) return;
  const isFailing = record.status !== 'delivered';
  const reason = isFailing ? endReason(before, record, disableAfter) : undefined;
  const { failures, pace, wait } = afterRecord(before, works, record.pause, probes);
  const isSame = failures === before.failures && pace === before.pace && !wait;
  if (isSame && reason === undefined && isFailing === (before.failing_for !== null)) return;
  await execute(tx)`
    update webhooks set failures = ${failures}, pace = ${pace}, enabled = ${reason === undefined},
      retry_at = coalesce(statement_timestamp() + make_interval(secs => ${wait === undefined ? null : wait / 1000}), retry_at),
      failing_since = case when ${isFailing} then coalesce(failing_since, statement_timestamp()) end,
      disabled_reason = coalesce(${reason}, disabled_reason)
    where tenant_id = ${tx} and id = ${id}`;
  if (works && before.failures >= OPEN_AFTER) await makeTriedDue(tx, id);
}

/** Without a `wait`, the time of the next attempt stays. */
function afterRecord(
  before: EndpointBefore,
  works: boolean,
  pause: number | undefined,
  probes: ProbeTimes,
): Breaker & { readonly wait: number | undefined } {
  if (pause !== undefined) return afterPause(pause);
  // An attempt that began before the breaker opened says nothing new by its failure.
  if (!works && before.is_waiting) return { ...before, wait: undefined };
  const after = afterAttempt(before, works, probes, Math.random);
  // An attempt that began before a pause does not end it.
  const isPaused = before.is_waiting && before.failures < OPEN_AFTER;
  return isPaused ? { ...after, wait: undefined } : after;
}

/** Why the webhook is to be disabled; undefined if it is not. */
function endReason(
  { failing_for }: EndpointBefore,
  { gone, problem }: AttemptRecord,
  disableAfter: number,
): string | undefined {
  if (gone) return 'it answered 410 Gone';
  return (failing_for ?? 0) >= disableAfter ? `it has failed since then: ${problem}` : undefined;
}

/** What was tried before the breaker closed need not wait for its own next time. */
async function makeTriedDue(tx: TenantTx, webhook: string): Promise<void> {
  await execute(tx)`
    update webhook_deliveries set next_at = statement_timestamp()
    where tenant_id = ${tx} and webhook_id = ${webhook} and status = 'pending' and attempts > waits and next_at > statement_timestamp()`;
}

/** Ends what waits for a webhook that is disabled. Safe to repeat. */
export function failWaiting(db: TenantDb, webhook: string): Promise<number> {
  return execute(db)`
    update webhook_deliveries set status = 'failed', problem = 'the webhook is disabled', ended_at = now(), claimed_until = null
    where tenant_id = ${db} and webhook_id = ${webhook} and status = 'pending'
      and not exists (select from webhooks where tenant_id = ${db} and id = ${webhook} and enabled)`;
}

/**
 * Ends deliveries of all tenants that have waited too long, and the oldest of a webhook for which too many wait; then
 * releases those that wait for a delivery which is gone. Returns how many it changed. Safe to repeat, also concurrently.
 */
export async function trimQueues(pool: Pool): Promise<number> {
  const isTooOld = sql`pending_since <= now() - make_interval(days => ${LONGEST_WAIT_DAYS})`;
  const ended = await execute(pool)`
    update webhook_deliveries set status = 'failed', ended_at = now(), claimed_until = null,
      problem = case when ${isTooOld} then ${`it has waited for ${LONGEST_WAIT_DAYS} days`}
        else ${`more than ${MAX_WAITING} deliveries waited`} end || coalesce('; last: ' || problem, '')
    where status = 'pending' and ctid = any (array(
      select ctid from (
        select ctid, pending_since, row_number() over (partition by tenant_id, webhook_id order by created_at desc, id) as place
        from webhook_deliveries where status = 'pending' and (claimed_until is null or claimed_until <= now())) waiting
      where place > ${MAX_WAITING} or ${isTooOld}))`;
  const released = await execute(pool)`
    update webhook_deliveries d set held_back = false where d.status = 'pending' and d.held_back and d.id = ${FIRST_OF_SESSION}`;
  return ended + released;
}
