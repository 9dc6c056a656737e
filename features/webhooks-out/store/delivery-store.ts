/** Reads what an attempt sends: a delivery with its webhook and its event. */
import type { StoredEvent } from '#domain/event.ts';
import { NOTIFY_TEST } from '../contract.ts';
import { readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { DeliveryRow, WebhookRow } from './webhook-store.ts';

export interface DeliveryBasis extends DeliveryRow {
  readonly webhook: WebhookRow;
  /** Undefined when the feed no longer has it. */
  readonly stored: StoredEvent | undefined;
  /** That of the event's turn, if it has a trace. */
  readonly trace: string | undefined;
  /** Who speaks in the event's turn; null for nobody, and without a turn. */
  readonly user: string | null;
}

export async function readDelivery(db: TenantDb, id: string): Promise<DeliveryBasis | undefined> {
  const row = await readRow<
    DeliveryRow & {
      turn_id: string | null;
      data: StoredEvent['data'] | null;
      at: Date;
      trace: string | null;
      user: string | null;
    }
  >(db)`
    select d.*, e.turn_id, coalesce(e.at, d.created_at) as at, t.context ->> 'trace' as trace, t.context ->> 'user' as user,
      case when d.event = ${NOTIFY_TEST} then '{}' else e.data end as data
    from webhook_deliveries d left join events e
      on e.tenant_id = d.tenant_id and e.session_key = d.session_key and e.id = d.event_id
    left join turns t on t.tenant_id = e.tenant_id and t.id = e.turn_id
    where d.tenant_id = ${db} and d.id = ${id}`;
  const webhook =
    row &&
    (await readRow<WebhookRow>(db)`
      select * from webhooks where tenant_id = ${db} and id = ${row.webhook_id}`);
  if (!row || !webhook) return undefined;
  const { data, at, turn_id, trace, ...delivery } = row;
  const stored = data && {
    id: Number(row.event_id),
    type: row.event as StoredEvent['type'],
    session_key: row.session_key,
    turn_id: turn_id ?? undefined,
    at: at.toISOString(),
    data,
  };
  return { ...delivery, webhook, stored: stored ?? undefined, trace: trace ?? undefined };
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
