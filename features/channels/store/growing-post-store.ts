/**
 * The message of a chat that grows while an answer is written: a post of the delivery that shows it, until the answer's
 * own delivery takes it over.
 */
import type { DeliveryBasis } from '#features/webhooks-out/index.ts';
import { affects, execute, readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/** Its part number, before all other parts. */
export const GROWING = -1;
/** Answers grow only while a channel has at most this many attempts under way, so that other deliveries get places. */
const AMONG = 10;

export interface GrowingPost {
  readonly delivery_id: string;
  readonly message_id: string;
}

/**
 * Whether the delivery still has the chat to itself: no other post is due there, and no other delivery of its channel
 * needs its place.
 */
export function mayGrow(db: TenantDb, { id, webhook_id, session_key }: DeliveryBasis): Promise<boolean> {
  return affects(db)`
    select from webhook_deliveries d where d.tenant_id = ${db} and d.id = ${id} and d.status = 'pending' and d.attempts = 0
      and not exists (select from webhook_deliveries o where o.tenant_id = ${db} and o.webhook_id = ${webhook_id}
        and o.session_key = ${session_key} and o.status = 'pending' and o.id <> d.id)
      and (select count(*) from webhook_deliveries o where o.tenant_id = ${db} and o.webhook_id = ${webhook_id}
        and o.claimed_until > now()) <= ${AMONG}`;
}

/** The newest growing message of the delivery's turn. */
export function findGrowing(
  db: TenantDb,
  channel: string,
  { session_key, stored }: DeliveryBasis,
): Promise<GrowingPost | undefined> {
  return readRow<GrowingPost>(db)`
    select p.delivery_id, p.message_id from channel_posts p
      join webhook_deliveries d on d.tenant_id = p.tenant_id and d.id = p.delivery_id
      join events e on e.tenant_id = d.tenant_id and e.session_key = d.session_key and e.id = d.event_id
    where p.tenant_id = ${db} and p.channel_key = ${channel} and p.part < 0
      and d.session_key = ${session_key} and e.turn_id = ${stored?.turn_id}
    order by d.event_id desc limit 1`;
}

/** Makes it the first part of another delivery, so that it no longer grows. */
export function takeGrowing(db: TenantDb, { delivery_id }: GrowingPost, by: string): Promise<number> {
  return execute(db)`
    update channel_posts set delivery_id = ${by}, part = 0
    where tenant_id = ${db} and delivery_id = ${delivery_id} and part = ${GROWING}`;
}
