/** The sessions of conversations whose clients send all messages each time. */
import { execute, readRow } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';

export async function findConversation(db: TenantDb, digest: Buffer): Promise<string | undefined> {
  const row = await readRow<{ session_key: string }>(db)`
    select session_key from openai_conversations where tenant_id = ${db} and digest = ${digest}`;
  return row?.session_key;
}

/** The newest conversation with these messages is continued. Safe to repeat. */
export async function keepConversation(db: TenantDb, digest: Buffer, session: string): Promise<void> {
  await execute(db)`
    insert into openai_conversations (tenant_id, digest, session_key) values (${db}, ${digest}, ${session})
    on conflict (tenant_id, digest) do update set session_key = excluded.session_key, created_at = now()`;
}
