/** Stores outgoing webhooks and their deliveries. `append_events` of the schema makes the deliveries. */
import { sql } from 'kysely';
import { MAX_WEBHOOKS, NOTIFY_TEST, NOTIFY_WORDS } from '../contract.ts';
import { deleteSome } from '#store/old-rows.ts';
import type { Sealer } from '#store/seal.ts';
import type { Pool } from '#store/postgres/pool.ts';
import {
  affects,
  below,
  execute,
  type PageEnd,
  readRow,
  readRows,
  type RowOf,
} from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { lockTenant } from '#store/postgres/transaction.ts';

export type WebhookRow = RowOf<'webhooks'>;
export type DeliveryRow = RowOf<
  'webhook_deliveries',
  'claimed_until' | 'held_back' | 'fence' | 'pending_since'
>;
export type DeliveryStatus = DeliveryRow['status'];

/** The fields of a webhook that may be shown; its secrets are separate. */
export type WebhookFields = Pick<
  WebhookRow,
  'url' | 'events' | 'agent_key' | 'session_key' | 'user_id' | 'description' | 'ordered'
> &
  Partial<Pick<WebhookRow, 'channel_key' | 'approval_agents'>>;

/** A webhook's secret, and the previous one while both sign. */
export interface WebhookSecrets {
  readonly secret: string;
  readonly before?: { readonly secret: string; readonly until: string };
}

interface Sealed {
  readonly sealed: string;
  readonly keyId: string;
}

/** A channel's credentials are sealed in the same way. */
export function sealWebhook(
  sealer: Sealer,
  tenant: string,
  id: string,
  secrets: WebhookSecrets | Readonly<Record<string, string>>,
): Sealed {
  return { sealed: sealer.seal(JSON.stringify(secrets), webhookPlace(tenant, id)), keyId: sealer.keyId };
}

export function openWebhook<Secrets = WebhookSecrets>(
  sealer: Pick<Sealer, 'open'>,
  tenant: string,
  { id, sealed }: Pick<WebhookRow, 'id' | 'sealed'>,
): Secrets {
  return JSON.parse(sealer.open(sealed, webhookPlace(tenant, id))) as Secrets;
}

/** What its secrets are bound to; key-rotation.ts has the same in SQL. */
function webhookPlace(tenant: string, id: string): string {
  return `${tenant}/webhooks/${id}`;
}

/** Returns undefined if the tenant has its maximum. */
export async function insertWebhook(
  tx: TenantTx,
  id: string,
  { sealed, keyId, channel_key, approval_agents = [], ...fields }: WebhookFields & Sealed,
  by: string,
): Promise<WebhookRow | undefined> {
  await lockTenant(tx);
  return readRow<WebhookRow>(tx)`
    insert into webhooks (tenant_id, id, url, events, agent_key, session_key, user_id, description, ordered, sealed, key_id, created_by,
      channel_key, approval_agents)
    select ${tx}, ${id}, ${fields.url}, ${[...fields.events]}::text[], ${fields.agent_key}, ${fields.session_key},
      ${fields.user_id}, ${fields.description}, ${fields.ordered}, ${sealed}, ${keyId}, ${by}, ${channel_key}, ${[...approval_agents]}::text[]
    where (select count(*) from webhooks where tenant_id = ${tx}) < ${MAX_WEBHOOKS} returning *`;
}

/**
 * Replaces the fields of `old` and closes its breaker. `enabled` true also resets how long it has failed; null leaves it
 * unchanged. Returns undefined if it is gone, or its fields are no longer those that were read.
 */
export function updateWebhook(
  db: TenantDb,
  old: WebhookRow,
  { enabled, ...fields }: WebhookFields & { readonly enabled: boolean | null },
): Promise<WebhookRow | undefined> {
  return readRow<WebhookRow>(db)`
    update webhooks set url = ${fields.url}, events = ${[...fields.events]}::text[], agent_key = ${fields.agent_key},
      session_key = ${fields.session_key}, user_id = ${fields.user_id}, description = ${fields.description}, ordered = ${fields.ordered},
      enabled = coalesce(${enabled}::boolean, enabled),
      disabled_reason = case when ${enabled}::boolean then null else disabled_reason end,
      failing_since = case when ${enabled}::boolean and not enabled then null else failing_since end, failures = 0, retry_at = now()
    where tenant_id = ${db} and id = ${old.id}
      and (url, events, agent_key, session_key, user_id, description, ordered) is not distinct from (${old.url},
        ${[...old.events]}::text[], ${old.agent_key}, ${old.session_key}, ${old.user_id}, ${old.description}, ${old.ordered})
    returning *`;
}

/** Returns undefined if there is none, or its secret is no longer the one that was read. */
export function rotateWebhook(
  db: TenantDb,
  { id, sealed: old }: WebhookRow,
  { sealed, keyId }: Sealed,
): Promise<WebhookRow | undefined> {
  return readRow<WebhookRow>(db)`
    update webhooks set sealed = ${sealed}, key_id = ${keyId}
    where tenant_id = ${db} and id = ${id} and sealed = ${old} returning *`;
}

/** Does not find that of a channel. */
export function findWebhook(db: TenantDb, id: string): Promise<WebhookRow | undefined> {
  return readRow<WebhookRow>(db)`
    select * from webhooks where tenant_id = ${db} and id = ${id} and channel_key is null`;
}

export function listWebhooks(db: TenantDb): Promise<WebhookRow[]> {
  return readRows<WebhookRow>(db)`
    select * from webhooks where tenant_id = ${db} and channel_key is null order by created_at, id`;
}

/** Deletes its deliveries first, in parts, because there may be millions. Safe to repeat. */
export async function deleteWebhook(db: TenantDb, id: string): Promise<boolean> {
  await execute(db)`update webhooks set enabled = false where tenant_id = ${db} and id = ${id}`;
  const ofIt = sql`tenant_id = ${db} and webhook_id = ${id}`;
  while ((await deleteSome(db.unbound, 'webhook_deliveries', ofIt, 10_000)) > 0);
  return affects(db)`delete from webhooks where tenant_id = ${db} and id = ${id}`;
}

/** `time` is `created_at` with all its digits. */
export type ListedDelivery = DeliveryRow & { readonly time: string };

export function listDeliveries(
  db: TenantDb,
  webhook: string,
  status: DeliveryStatus | undefined,
  limit: number,
  after: PageEnd | undefined,
): Promise<ListedDelivery[]> {
  return readRows<ListedDelivery>(db)`
    select *, created_at::text as time from webhook_deliveries
    where tenant_id = ${db} and webhook_id = ${webhook} and (${status}::text is null or status = ${status})
      ${below('created_at', 'id', after)} order by created_at desc, id limit ${limit}`;
}

/** Redelivers those that failed, or the one, also while the breaker is open; returns how many. Safe to repeat. */
export function redeliver(db: TenantDb, webhook: string, id?: string): Promise<number> {
  const which = id === undefined ? sql`status = 'failed'` : sql`id = ${id} and status <> 'pending'`;
  return execute(db)`
    with probed as (update webhooks set retry_at = now() where tenant_id = ${db} and id = ${webhook} and retry_at > now())
    update webhook_deliveries set status = 'pending', attempts = 0, waits = 0, redelivered = redelivered + 1, next_at = now(),
      pending_since = now(), ended_at = null
    where tenant_id = ${db} and webhook_id = ${webhook} and ${which}`;
}

export function findDelivery(db: TenantDb, webhook: string, id: string): Promise<DeliveryRow | undefined> {
  return readRow<DeliveryRow>(db)`
    select * from webhook_deliveries where tenant_id = ${db} and webhook_id = ${webhook} and id = ${id}`;
}

/**
 * Inserts a test delivery for each webhook that gets approvals, or for the one with this id or address. It is sent before
 * all that waits there, and even while the breaker is open.
 */
export function insertNotifyTests(
  db: TenantDb,
  to: string | undefined,
): Promise<(Pick<DeliveryRow, 'id' | 'webhook_id'> & Pick<WebhookRow, 'url'>)[]> {
  return readRows<Pick<DeliveryRow, 'id' | 'webhook_id'> & Pick<WebhookRow, 'url'>>(db)`
    with told as (select w.id, w.url, w.created_at, c.settings -> 'approvals_to' as place
      from webhooks w left join channels c on c.tenant_id = w.tenant_id and c.webhook_id = w.id
      where w.tenant_id = ${db} and (w.channel_key is null or c.settings ? 'approvals_to')
        and exists (select from unnest(events) as wanted where wanted = '*' or wanted like 'approval.%')
        and (${to}::text is null or w.id::text = ${to} or w.url in (${to}, 'mailto:' || ${to})) for key share of w),
    probed as (update webhooks set retry_at = now() from told where tenant_id = ${db} and webhooks.id = told.id and retry_at > now()),
    made as (insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, next_at, post)
      select ${db}, 'msg_' || replace(gen_random_uuid()::text, '-', ''), id, '', 0, ${NOTIFY_TEST}, created_at,
        case when place is not null then jsonb_build_object('place', place, 'markdown', ${NOTIFY_WORDS}::text) end from told
      returning id, webhook_id)
    select made.id, webhook_id, url from made join told on told.id = webhook_id order by url`;
}

/** Of all tenants: how many endpoints fail, or were disabled because they failed. */
export async function countFailing(pool: Pool): Promise<Record<'webhook' | 'mail' | 'channel', number>> {
  const rows = await readRows<{ kind: 'webhook' | 'mail' | 'channel'; failing: number }>(pool)`
    select case when channel_key is not null then 'channel' when url like 'mailto:%' then 'mail' else 'webhook' end as kind,
      count(*)::int as failing
    from webhooks where failing_since is not null or disabled_reason is not null group by 1`;
  return Object.assign(
    { webhook: 0, mail: 0, channel: 0 },
    Object.fromEntries(rows.map(({ kind, failing }) => [kind, failing])),
  );
}
