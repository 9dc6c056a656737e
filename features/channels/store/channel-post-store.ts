/** Stores posts in chats: what is still to be sent there, and what has arrived. */
import { ALBUM_SECONDS, gatheredAlbum, isAddressedAlbum, withPart } from '../rules/album.ts';
import type { AlbumPart, DirectPost, WaitingMessage } from '../contract.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { affects, execute, type RowOf, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';

/**
 * Queues a post, which follows what the session has said so far and waits at least `seconds`. Safe to repeat by its id.
 */
export function insertDirectPost(
  db: TenantDb,
  webhook: string,
  { id, session, post }: { readonly id: string; readonly session: string; readonly post: DirectPost },
  seconds = 0,
): Promise<boolean> {
  return affects(db)`
    insert into webhook_deliveries (tenant_id, id, webhook_id, session_key, event_id, event, next_at, post)
    values (${db}, ${id}, ${webhook}, ${session},
      coalesce((select event_seq from sessions where tenant_id = ${db} and key = ${session}), 0), 'channel.post',
      now() + make_interval(secs => ${seconds}), ${JSON.stringify(post)}::jsonb)
    on conflict do nothing`;
}

/**
 * Returns undefined if there is no such album, and `late` if its message was submitted without the part. Safe to
 * repeat.
 */
export function addToAlbum(db: TenantDb, id: string, part: AlbumPart): Promise<'added' | 'late' | undefined> {
  return inTransaction(db, async (tx) => {
    const post = await lockedPost(tx, id);
    if (!post?.waiting) return undefined;
    const waiting = withPart(post.waiting, part);
    if (!waiting) return isAddressedAlbum([...(post.waiting.album?.parts ?? []), part]) ? 'late' : 'added';
    if (waiting !== post.waiting) await writePost(tx, id, { ...post, waiting }, ALBUM_SECONDS);
    return 'added';
  });
}

/** Closes the album to further parts. Safe to repeat. */
export function closeAlbum(db: TenantDb, id: string): Promise<WaitingMessage | undefined> {
  return inTransaction(db, async (tx) => {
    const post = await lockedPost(tx, id);
    if (!post?.waiting) return undefined;
    const waiting = gatheredAlbum(post.waiting);
    if (waiting !== post.waiting) await writePost(tx, id, { ...post, waiting }, 0);
    return waiting;
  });
}

async function lockedPost(tx: TenantTx, id: string): Promise<DirectPost | undefined> {
  const row = await readRow<{ post: DirectPost }>(tx)`
    select post from webhook_deliveries where tenant_id = ${tx} and id = ${id} for update`;
  return row?.post;
}

async function writePost(tx: TenantTx, id: string, post: DirectPost, seconds: number) {
  await execute(tx)`
    update webhook_deliveries set post = ${JSON.stringify(post)}::jsonb, next_at = now() + make_interval(secs => ${seconds})
    where tenant_id = ${tx} and id = ${id}`;
}

/** Messages of a chat whose files are still to be fetched. */
export async function countWaiting(db: TenantDb, webhook: string, session: string): Promise<number> {
  const row = await readRow<{ count: number }>(db)`
    select count(*)::int as count from webhook_deliveries where tenant_id = ${db} and webhook_id = ${webhook}
      and session_key = ${session} and status = 'pending' and post ? 'waiting'`;
  return row?.count ?? 0;
}

export type PostRow = RowOf<'channel_posts', 'created_at'>;

/** Records that the part has arrived or, with an empty `message_id`, that it is being sent. Safe to repeat. */
export function recordPost(db: TenantDb, row: PostRow): Promise<number> {
  return execute(db)`
    insert into channel_posts (tenant_id, delivery_id, part, channel_key, message_id, place, approval_id, digest)
    values (${db}, ${row.delivery_id}, ${row.part}, ${row.channel_key}, ${row.message_id},
      ${JSON.stringify(row.place)}::jsonb, ${row.approval_id}, ${row.digest})
    on conflict (tenant_id, delivery_id, part) do update set message_id = excluded.message_id, place = excluded.place,
      approval_id = excluded.approval_id, digest = excluded.digest`;
}

/** Removes the record of a part that was refused. */
export function forgetPost(
  db: TenantDb,
  { delivery_id, part }: Pick<PostRow, 'delivery_id' | 'part'>,
): Promise<number> {
  return execute(db)`
    delete from channel_posts where tenant_id = ${db} and delivery_id = ${delivery_id} and part = ${part}`;
}

/** The posts of a delivery, in the order of its parts. */
export function postsOf(db: TenantDb, delivery: string): Promise<PostRow[]> {
  return readRows<PostRow>(db)`
    select * from channel_posts where tenant_id = ${db} and delivery_id = ${delivery} and part >= 0 order by part`;
}

/** Where a channel asks the question. */
export function postsOfApproval(db: TenantDb, channel: string, approval: string): Promise<PostRow[]> {
  return readRows<PostRow>(db)`
    select * from channel_posts where tenant_id = ${db} and approval_id = ${approval} and channel_key = ${channel}`;
}

/**
 * One commit may have several deliveries of a question to a channel. This returns the one that asks: that of the chat's
 * own session comes first.
 */
export async function firstAsking(
  db: TenantDb,
  { webhook_id, created_at }: Pick<RowOf<'webhook_deliveries'>, 'webhook_id' | 'created_at'>,
  approval: string,
): Promise<string | undefined> {
  const row = await readRow<{ id: string }>(db)`
    select d.id from webhook_deliveries d
      join events e on e.tenant_id = d.tenant_id and e.session_key = d.session_key and e.id = d.event_id
      join sessions s on s.tenant_id = d.tenant_id and s.key = d.session_key
      join webhooks w on w.tenant_id = d.tenant_id and w.id = d.webhook_id
    where d.tenant_id = ${db} and d.webhook_id = ${webhook_id} and d.event = 'approval.requested'
      and d.created_at between ${created_at}::timestamptz - interval '1 minute' and ${created_at}::timestamptz + interval '1 minute'
      and e.data ->> 'approval_id' = ${approval}
    order by s.channel is not distinct from w.channel_key desc, d.id limit 1`;
  return row?.id;
}
