/** The sessions of conversations whose clients send all messages each time. */
import { execute, readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

/**
 * The session that has exactly these messages; undefined when it has gone on since, other than by the turn `next`: two
 * conversations may have begun alike.
 */
export async function findConversation(
  db: TenantDb,
  digest: Buffer,
  next: string,
): Promise<string | undefined> {
  const row = await readRow<{ session_key: string }>(db)`
    select c.session_key from openai_conversations c join turns t on t.tenant_id = ${db} and t.id = c.turn_id
     where c.tenant_id = ${db} and c.digest = ${digest} and not exists (select from turns x where x.tenant_id = ${db}
       and x.session_key = c.session_key and x.created_at > t.created_at and x.id <> ${next})`;
  return row?.session_key;
}

/** The newest conversation with these messages is continued. Safe to repeat. */
export async function keepConversation(
  db: TenantDb,
  digest: Buffer,
  { session, turn }: { readonly session: string; readonly turn: string },
): Promise<void> {
  await execute(db)`
    insert into openai_conversations (tenant_id, digest, session_key, turn_id) values (${db}, ${digest}, ${session}, ${turn})
    on conflict (tenant_id, digest) do update set session_key = excluded.session_key, turn_id = excluded.turn_id,
      created_at = now()`;
}
