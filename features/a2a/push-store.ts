/** Which webhook tells of which task. */
import { sql } from 'kysely';
import type { Pool } from '#store/postgres/pool.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { PUSH } from './push-target.ts';

export interface PushConfig {
  readonly id: string;
  readonly turn_id: string;
  readonly webhook_id: string;
  /** With PUSH before it. */
  readonly url: string;
}

const COLUMNS = sql`c.id, c.turn_id, c.webhook_id, w.url`;
const JOINED = sql`a2a_push_configs c join webhooks w on w.tenant_id = c.tenant_id and w.id = c.webhook_id`;

/** The same id again is of the new webhook. */
export async function keepPushConfig(
  tx: TenantTx,
  { id, turn_id, webhook_id }: Omit<PushConfig, 'url'>,
): Promise<void> {
  await execute(tx)`
    insert into a2a_push_configs (tenant_id, turn_id, id, webhook_id) values (${tx}, ${turn_id}, ${id}, ${webhook_id})
    on conflict (tenant_id, turn_id, id) do update set webhook_id = excluded.webhook_id`;
}

export function hasTurnEnded(tx: TenantTx, turn: string): Promise<boolean> {
  return affects(tx)`
    select from turns where tenant_id = ${tx} and id = ${turn} and ended_at is not null`;
}

export function listPushConfigs(db: TenantDb | TenantTx, turn: string): Promise<PushConfig[]> {
  return readRows<PushConfig>(db)`
    select ${COLUMNS} from ${JOINED} where c.tenant_id = ${db} and c.turn_id = ${turn} order by c.created_at, c.id`;
}

export function findPushConfig(db: TenantDb, turn: string, id: string): Promise<PushConfig | undefined> {
  return readRow<PushConfig>(db)`
    select ${COLUMNS} from ${JOINED} where c.tenant_id = ${db} and c.turn_id = ${turn} and c.id = ${id}`;
}

/** The task that a webhook tells of. */
export async function turnOfWebhook(db: TenantDb, webhook: string): Promise<string | undefined> {
  const row = await readRow<{ turn_id: string }>(db)`
    select turn_id from a2a_push_configs where tenant_id = ${db} and webhook_id = ${webhook}`;
  return row?.turn_id;
}

/**
 * Removes webhooks whose task has ended and was told of, and those that a crash left without their task; of all tenants,
 * because each worker does it for all. Returns how many.
 */
export function prunePushConfigs(pool: Pool): Promise<number> {
  return execute(pool)`
    delete from webhooks w where starts_with(url, ${PUSH}) and created_at < now() - interval '1 minute'
      and not exists (select from webhook_deliveries d where d.tenant_id = w.tenant_id and d.webhook_id = w.id and d.status = 'pending')
      and not exists (select from a2a_push_configs c join turns t on t.tenant_id = c.tenant_id and t.id = c.turn_id
        where c.tenant_id = w.tenant_id and c.webhook_id = w.id and t.ended_at is null)`;
}
