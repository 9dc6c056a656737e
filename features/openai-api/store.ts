/** The sessions of conversations whose clients send all messages each time. */
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
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

/** The event of the session with which an approval was decided; undefined while it waits. */
export async function decidedAt(
  db: TenantDb,
  { id, session_key, status }: Pick<ApprovalRow, 'id' | 'session_key' | 'status'>,
): Promise<number | undefined> {
  if (status === 'pending') return undefined;
  const row = await readRow<{ id: string | null }>(db)`
    select max(id) as id from events where tenant_id = ${db} and session_key = ${session_key}
      and type = 'approval.decided' and data ->> 'approval_id' = ${id}`;
  return row?.id ? Number(row.id) : undefined;
}
