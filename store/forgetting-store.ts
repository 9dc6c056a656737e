/**
 * Requests to forget, and their receipts. Rows are deleted in batches, each with its count in the receipt, so a repeat
 * continues.
 */
import type { RowChange, RowParts } from './row-parts.ts';
import { type RawBuilder, sql } from 'kysely';
import type { Forgetting } from '#domain/schema/forgetting.ts';
import { isUnneeded } from './files/file-store.ts';
import { deleteSome } from './old-rows.ts';
import type { Pool } from './postgres/pool.ts';
import type { Db } from './postgres/database.ts';
import { below, execute, type PageEnd, readRow, readRows, type RowOf } from './postgres/statements.ts';
import { mergeUsage } from './budgets/usage-rollup.ts';
import { type TenantDb, forTenant } from './postgres/tenant-db.ts';
import { inTransaction } from './postgres/transaction.ts';
import { IS_THAWED } from './tenant-freeze.ts';

export interface ForgettingRow
  extends RowOf<'forgettings', 'sessions' | 'removed' | 'created_at' | 'until' | 'ended_at'> {
  readonly sessions: readonly string[];
  readonly removed: Forgetting['removed'];
  readonly created_at: Date;
  /** Time when all running work was stopped: later data stays. Null before that. */
  readonly until: Date | null;
  readonly ended_at: Date | null;
  /** `created_at` to the microsecond, for cursors. */
  readonly created_text: string;
}

const COLUMNS = sql`id, kind, subject, sessions, removed, requested_by, created_at, until, ended_at, created_at::text as created_text`;

/** Returns the running one for the same subject, if there is one. */
export async function beginForgetting(
  db: TenantDb,
  { id, kind, subject, requested_by }: Pick<ForgettingRow, 'id' | 'kind' | 'subject' | 'requested_by'>,
): Promise<ForgettingRow> {
  const row = await readRow<ForgettingRow>(db)`
    insert into forgettings (tenant_id, id, kind, subject, requested_by)
    values (${db}, ${id}, ${kind}, ${subject}, ${requested_by})
    on conflict (tenant_id, kind, subject) where ended_at is null do update set kind = excluded.kind
    returning ${COLUMNS}`;
  if (!row) throw new Error('a new forgetting returned no row');
  return row;
}

export function findForgetting(db: TenantDb, id: string): Promise<ForgettingRow | undefined> {
  return readRow<ForgettingRow>(db)`
    select ${COLUMNS} from forgettings where tenant_id = ${db} and id = ${id}`;
}

/** The newest first. */
export function listForgettings(
  db: TenantDb,
  limit: number,
  after: PageEnd | undefined,
): Promise<ForgettingRow[]> {
  return readRows<ForgettingRow>(db)`
    select ${COLUMNS} from forgettings where tenant_id = ${db} ${below('created_at', 'id', after)}
    order by created_at desc, id limit ${limit}`;
}

/** Of all tenants: forgettings whose workflow may never have been started. */
export function openForgettings(
  pool: Pool,
  olderThanSeconds: number,
): Promise<{ readonly tenant_id: string; readonly id: string }[]> {
  return readRows<{ tenant_id: string; id: string }>(pool)`select tenant_id, id from forgettings
    where ended_at is null and ${IS_THAWED} and created_at < now() - make_interval(secs => ${olderThanSeconds}) limit 500`;
}

/** The sessions to forget, with those that work for them; recorded in the row. */
export async function noteForgottenSessions(
  db: TenantDb,
  { id, kind, subject }: ForgettingRow,
): Promise<readonly { readonly key: string; readonly agent: string }[]> {
  const isRoot = kind === 'session' ? sql`s.key = ${subject}` : sql`s.user_id = ${subject}`;
  return readRows<{ key: string; agent: string }>(db)`
    with roots as (select key from sessions s where s.tenant_id = ${db} and ${isRoot}),
    found as (
      select s.key, s.agent_key from sessions s where s.tenant_id = ${db}
        and (s.key in (select key from roots) or s.budget_root ->> 'session' in (select key from roots))),
    noted as (
      update forgettings set sessions = array(select unnest(sessions) union select key from found)
      where tenant_id = ${db} and id = ${id})
    select key, agent_key as agent from found`;
}

/** Adds counts to the receipt. */
export async function countForgotten(
  db: TenantDb<Db>,
  id: string,
  kind: string,
  count: number,
): Promise<void> {
  if (count === 0) return;
  await execute(db)`
    update forgettings set removed = jsonb_set(removed, array[${kind}::text], to_jsonb(coalesce((removed ->> ${kind})::int, 0) + ${count}::int))
    where tenant_id = ${db} and id = ${id}`;
}

/** The database's clock. */
export async function readClock(pool: Pool): Promise<string> {
  const row = await readRow<{ now: string }>(pool)`select clock_timestamp()::text as now`;
  return row?.now ?? '';
}

/** Records that nothing of what began until then runs any more. */
export async function noteStopped(db: TenantDb, id: string, until: string): Promise<void> {
  await execute(db)`
    update forgettings set until = coalesce(until, ${until}::timestamptz) where tenant_id = ${db} and id = ${id}`;
}

/** Closes the receipt. */
export async function endForgetting(db: TenantDb, id: string): Promise<void> {
  await execute(db)`
    update forgettings set ended_at = coalesce(ended_at, clock_timestamp()) where tenant_id = ${db} and id = ${id}`;
}

/** Rows deleted in one statement: a concurrent turn waits no longer than one takes. */
const BATCH = 1_000;

/** A table, a condition on its rows to delete, and their name in the receipt. */
type Removal = readonly [table: string, where: RawBuilder<unknown>, counted?: string];

/** Called after each batch with its kind and the number of rows. */
type OnRemoved = (db: Db, kind: string, count: number) => Promise<void>;

/**
 * Removes what a session contained until then. A session that was used since stays, without the removed data. Costs
 * stay as sums without the session. Safe to repeat.
 */
export async function removeSessionRows(
  pool: Pool,
  parts: RowParts,
  tenant: string,
  session: string,
  until: Date,
  onRemoved: OnRemoved,
): Promise<void> {
  const db = forTenant(pool, tenant);
  const own = sql`tenant_id = ${tenant} and session_key = ${session}`;
  const turns = sql`(select id from turns where ${own} and created_at <= ${until})`;
  const calls = sql`(select id from tool_calls where ${own} and turn_id in ${turns})`;
  const approvals = sql`(select id from approvals where ${own} and turn_id in ${turns})`;
  const condition = sql`(select id from assignments where tenant_id = ${tenant} and created_at <= ${until}
    and (origin_session = ${session} or session_key = ${session}))`;
  const ofTenant = sql`tenant_id = ${tenant}`;
  await markUnneeded(
    db,
    sql`select i ->> 'digest' from tool_calls c, jsonb_array_elements(c.images) i where ${own} and turn_id in ${turns}`,
  );
  const removals: readonly Removal[] = [
    keptAnswers(tenant, sql`strpos(body, to_json(${session}::text)::text) > 0 and created_at <= ${until}`),
    ['decision_proofs', sql`${ofTenant} and approval_id in ${approvals}`],
    ['decision_tokens', sql`${ofTenant} and approval_id in ${approvals}`],
    ['approval_decisions', sql`${ofTenant} and approval_id in ${approvals}`],
    ['approvals', sql`${own} and turn_id in ${turns}`, 'approvals'],
    ['egress_requests', sql`${ofTenant} and call_id in ${calls}`, 'egress_requests'],
    [
      'tool_results',
      sql`${ofTenant} and id in (select whole_id from tool_calls where ${own} and turn_id in ${turns})`,
    ],
    ['gate_checks', sql`${ofTenant} and (owner_id in ${turns} or owner_id in ${condition})`],
    ['tool_calls', sql`${own} and turn_id in ${turns}`, 'tool_calls'],
    ['assignments', sql`${ofTenant} and id in ${condition}`, 'assignments'],
    ['tool_rate_buckets', own],
    ['events', sql`${own} and at <= ${until} and (turn_id is null or turn_id in ${turns})`, 'events'],
    [
      'messages',
      sql`${own} and coalesce((select t.created_at from turns t where t.tenant_id = ${tenant} and t.id = turn_id),
        created_at) <= ${until}`,
      'messages',
    ],
  ];
  const scope = { tenant, session, until, own, turns, calls };
  for (const part of parts) await changeRows(pool, part.ofSession?.(scope), onRemoved);
  for (const removal of removals) await removeAll(pool, removal, onRemoved);
  await mergeUsage(db, 'session', session);
  const last: readonly Removal[] = [
    marked(tenant, parts),
    ['turns', sql`${own} and id in ${turns}`, 'turns'],
    [
      'sessions',
      sql`${ofTenant} and key = ${session} and not exists (select from turns t where t.tenant_id = ${tenant} and t.session_key = ${session})
        and not exists (select from messages m where m.tenant_id = ${tenant} and m.session_key = ${session})`,
      'sessions',
    ],
  ];
  for (const removal of last) await removeAll(pool, removal, onRemoved);
  // A turn that has begun since may have read something from outside (PO-5), with a tool that was also used before.
  await execute(pool)`
    update sessions s set summary = null, title = null, used = case
        when exists (select from turns t where t.tenant_id = ${tenant} and t.session_key = ${session}) then used
        else '{}' end
    where ${ofTenant} and key = ${session}`;
}

/** Removes a user's own data besides sessions: permanent permissions, links, keys, documents, and data of features. */
export async function removeUserRows(
  pool: Pool,
  parts: RowParts,
  tenant: string,
  user: string,
  onRemoved: OnRemoved,
): Promise<void> {
  const own = sql`tenant_id = ${tenant} and user_id = ${user}`;
  const ofFeatures = parts.map((part) => part.ofUser?.({ tenant, user, own }) ?? {});
  for (const { digests } of ofFeatures) if (digests) await markUnneeded(forTenant(pool, tenant), digests);
  for (const { before } of ofFeatures) await changeRows(pool, before, onRemoved);
  const removals: readonly Removal[] = [
    keptAnswers(
      tenant,
      sql`(api_key_id in (select id from api_keys where ${own}) or strpos(body, to_json(${user}::text)::text) > 0)`,
    ),
    ['exec_allowlist', own, 'allowlist'],
    ['api_keys', own, 'api_keys'],
    ['documents', own, 'documents'],
    ['document_versions', own],
    marked(tenant, parts),
  ];
  for (const removal of removals) await removeAll(pool, removal, onRemoved);
  await mergeUsage(forTenant(pool, tenant), 'user', user);
  for (const { after } of ofFeatures) await changeRows(pool, after, onRemoved);
}

/** Vectors do not show which texts they belong to, so all are removed; those of remaining texts are requested again. */
export async function removeEmbeddings(db: TenantDb, onRemoved: OnRemoved): Promise<void> {
  await removeAll(db.unbound, ['embeddings', sql`tenant_id = ${db}`, 'embeddings'], onRemoved);
}

/**
 * Stored answers contain whole texts, which a repeat under the same Idempotency-Key would return. A name in them is a
 * quoted text.
 */
function keptAnswers(tenant: string, which: RawBuilder<unknown>): Removal {
  return ['idempotency_keys', sql`tenant_id = ${tenant} and ${which}`, 'idempotency_keys'];
}

/** Runs before the referencing rows are deleted: bytes that nothing else references are deleted after them. */
async function markUnneeded(db: TenantDb, digests: RawBuilder<unknown>): Promise<void> {
  await execute(db)`
    update files set needed_at = '-infinity' where tenant_id = ${db} and digest in (${digests})`;
}

function marked(tenant: string, parts: RowParts): Removal {
  return [
    'files',
    sql`tenant_id = ${tenant} and needed_at = '-infinity' and not in_store and ${isUnneeded(parts)}`,
    'files',
  ];
}

async function changeRows(
  pool: Pool,
  changes: readonly RowChange[] | undefined,
  onRemoved: OnRemoved,
): Promise<void> {
  for (const change of changes ?? [])
    if ('change' in change) await execute(pool)`${change.change}`;
    else await removeAll(pool, [change.table, change.where, change.counted], onRemoved);
}

async function removeAll(pool: Pool, [table, where, counted]: Removal, onRemoved: OnRemoved): Promise<void> {
  for (let count = BATCH; count >= BATCH; )
    count = await inTransaction(pool, async (tx) => {
      const removed = await deleteSome(tx, table, where, BATCH);
      await onRemoved(tx, counted ?? 'other', removed);
      return removed;
    });
}
