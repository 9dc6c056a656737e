/** Deliveries of webhooks under way: they are taken when due, and the result of each attempt is recorded. */
import type { StoredEvent } from '#domain/event.ts';
import { NOTIFY_TEST } from '../contract.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import type { DeliveryRow, DeliveryStatus, WebhookRow } from './webhook-store.ts';

/** How long one attempt may take with everything around it; then its workflow is checked. */
const LEASE = '3 minutes';
/** How long a held-back one is not checked; the end of the previous one makes it due earlier. */
const HELD_BACK = '1 hour';
/** Concurrent first attempts at one address. */
const AT_ONCE = 20;
/**
 * Rows of one webhook whose order in their sessions one claim checks, and rows that one claim takes of all webhooks.
 */
const MAX_EXAMINED = 200;
const PAGE = 500;

export interface DueDelivery {
  readonly tenant_id: string;
  readonly id: string;
  readonly redelivered: number;
  readonly event: string;
  readonly session_key: string;
  /** It waits for an earlier one in its session, and must not be started. */
  readonly held_back: boolean;
}

/**
 * Claims deliveries of all tenants; each is taken by one caller. The cost of a claim depends on how many webhooks wait,
 * not on how many deliveries do: it checks a bounded number of each, by an index. Ordered ones that must wait for
 * earlier ones are held back, so that they are not checked again until these are over.
 */
export function claimDueDeliveries(pool: Pool): Promise<DueDelivery[]> {
  return readRows<DueDelivery>(pool)`
    with recursive waiting as (
      (select tenant_id, webhook_id from webhook_deliveries where status = 'pending' order by tenant_id, webhook_id limit 1)
      union all
      select next.tenant_id, next.webhook_id from waiting w cross join lateral (
        select d.tenant_id, d.webhook_id from webhook_deliveries d
        where d.status = 'pending' and (d.tenant_id, d.webhook_id) > (w.tenant_id, w.webhook_id)
        order by d.tenant_id, d.webhook_id limit 1) next),
    looked_at as (
      select d.*, running.count, row_number() over (partition by d.tenant_id, d.webhook_id order by d.held_back, d.claimed_until) as place
      from waiting join webhooks w on w.tenant_id = waiting.tenant_id and w.id = waiting.webhook_id
      cross join lateral (
        select count(*) from webhook_deliveries o where o.tenant_id = w.tenant_id and o.webhook_id = w.id
          and o.status = 'pending' and o.attempts = 0 and not o.held_back and o.claimed_until > now()) running
      cross join lateral (
        select d.ctid as row, d.tenant_id, d.webhook_id, d.claimed_until, w.ordered and exists (
            select from webhook_deliveries e where e.tenant_id = d.tenant_id and e.webhook_id = d.webhook_id
              and e.session_key = d.session_key and e.status = 'pending' and e.event_id <= d.event_id
              and (e.event_id, e.post is not null, e.created_at, e.id) < (d.event_id, d.post is not null, d.created_at, d.id)) as held_back
        from webhook_deliveries d where d.tenant_id = w.tenant_id and d.webhook_id = w.id
          and d.status = 'pending' and d.claimed_until <= now() and d.claimed_until < 'infinity'
        order by d.claimed_until limit case when w.ordered then ${MAX_EXAMINED} else ${AT_ONCE} - running.count end) d
      where running.count < ${AT_ONCE}),
    taken as (select * from looked_at where held_back or place <= ${AT_ONCE} - count order by claimed_until limit ${PAGE})
    update webhook_deliveries d set held_back = taken.held_back,
      claimed_until = case when taken.held_back then now() + ${HELD_BACK}::interval
        else greatest(now(), d.next_at) + ${LEASE}::interval end
    from taken where d.ctid = taken.row and d.status = 'pending' and d.claimed_until is not distinct from taken.claimed_until
    returning d.tenant_id, d.id, d.redelivered, d.event, d.session_key, d.held_back`;
}

/** Whether `claimDueDeliveries` would find any, apart from order. */
export const HAS_DUE = `exists (select from webhook_deliveries where status = 'pending' and claimed_until <= now())`;

export interface DeliveryBasis extends DeliveryRow {
  readonly webhook: WebhookRow;
  /** Undefined when the feed no longer has it. */
  readonly stored: StoredEvent | undefined;
  /** Time until the next attempt, by the database's clock. */
  readonly wait: number;
}

export async function readDelivery(db: TenantDb, id: string): Promise<DeliveryBasis | undefined> {
  const row = await readRow<
    DeliveryRow & { wait: number; turn_id: string | null; data: StoredEvent['data'] | null; at: Date }
  >(db)`
    select d.*, (extract(epoch from d.next_at - now()) * 1000)::float8 as wait, e.turn_id, coalesce(e.at, d.created_at) as at,
      case when d.event = ${NOTIFY_TEST} then '{}' else e.data end as data
    from webhook_deliveries d left join events e
      on e.tenant_id = d.tenant_id and e.session_key = d.session_key and e.id = d.event_id
    where d.tenant_id = ${db} and d.id = ${id}`;
  const webhook =
    row &&
    (await readRow<WebhookRow>(db)`
      select * from webhooks where tenant_id = ${db} and id = ${row.webhook_id}`);
  if (!row || !webhook) return undefined;
  const { data, at, turn_id, wait, ...delivery } = row;
  const stored = data && {
    id: Number(row.event_id),
    type: row.event as StoredEvent['type'],
    session_key: row.session_key,
    turn_id: turn_id ?? undefined,
    at: at.toISOString(),
    data,
  };
  return { ...delivery, webhook, stored: stored ?? undefined, wait: Math.ceil(wait) };
}

/** The webhook's first sent delivery about the approval before this one. */
export async function findEarlierRequest(
  db: TenantDb,
  { webhook_id, session_key, event_id }: DeliveryRow,
  approval: string,
): Promise<string | undefined> {
  const row = await readRow<{ id: string }>(db)`
    select d.id from webhook_deliveries d join events e
      on e.tenant_id = d.tenant_id and e.session_key = d.session_key and e.id = d.event_id
    where d.tenant_id = ${db} and d.webhook_id = ${webhook_id} and d.session_key = ${session_key}
      and d.event_id < ${event_id} and d.status = 'delivered' and d.problem is null
      and e.data ->> 'approval_id' = ${approval} order by d.event_id limit 1`;
  return row?.id;
}

/** One attempt: accepted, to be retried after `wait` milliseconds, or given up. */
export interface AttemptRecord {
  readonly status: DeliveryStatus;
  readonly answered: number | null;
  readonly problem: string | null;
  readonly wait?: number | undefined;
  /** The receiver requested the wait, so it does not count as one of the tries. */
  readonly isWait?: boolean;
  /** The receiver wants no more deliveries. */
  readonly gone?: boolean;
}

/**
 * Returns false when the attempt was recorded before. A failed one disables its webhook if that has failed for
 * `disableSeconds`.
 */
export function recordAttempt(
  db: TenantDb,
  { id, webhook_id, attempts }: DeliveryBasis,
  { status, answered, problem, wait = 0, isWait = false, gone = false }: AttemptRecord,
  disableSeconds: number,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const isFirst = await affects(tx)`
      update webhook_deliveries set status = ${status}, attempts = attempts + 1, waits = waits + ${isWait ? 1 : 0},
        last_status = ${answered}, problem = ${problem},
        next_at = now() + make_interval(secs => ${wait / 1000}), claimed_until = now() + make_interval(secs => ${wait / 1000}) + ${LEASE}::interval,
        ended_at = case when ${status} = 'pending' then null else now() end
      where tenant_id = ${tx} and id = ${id} and status = 'pending' and attempts = ${attempts}`;
    if (!isFirst) return false;
    if (status === 'delivered') {
      await execute(tx)`
        update webhooks set failing_since = null where tenant_id = ${tx} and id = ${webhook_id} and failing_since is not null`;
      return true;
    }
    const reason = gone ? 'it answered 410 Gone' : `it has failed since then: ${problem}`;
    // A delivery that still waits fails when its attempt is due.
    await execute(tx)`
      update webhooks set failing_since = coalesce(failing_since, now()),
        enabled = enabled and not (${gone} or coalesce(failing_since, now()) <= now() - make_interval(secs => ${disableSeconds})),
        disabled_reason = case when ${gone} or coalesce(failing_since, now()) <= now() - make_interval(secs => ${disableSeconds})
          then ${reason} else disabled_reason end
      where tenant_id = ${tx} and id = ${webhook_id} and enabled`;
    return true;
  });
}

/**
 * Makes the next delivery of the session due after one is over, unless it is under way. It must run once that end is
 * committed: a claim that saw it wait has held back only what this statement sees too. It changes the next one's time
 * in any case, so that a concurrent claim notices and leaves it. Safe to repeat.
 */
export async function takeUpNext(
  db: TenantDb,
  { webhook_id, session_key, webhook }: DeliveryBasis,
): Promise<void> {
  if (!webhook.ordered) return;
  await execute(db)`
    update webhook_deliveries set claimed_until = clock_timestamp(), held_back = false
    where tenant_id = ${db} and (held_back or claimed_until <= now()) and id = (
      select id from webhook_deliveries
      where tenant_id = ${db} and webhook_id = ${webhook_id} and session_key = ${session_key} and status = 'pending'
      order by event_id, (post is not null), created_at, id limit 1)`;
}
