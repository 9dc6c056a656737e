/** Stores nodes. It stores only hashes of codes and tokens, and sealed the key derived from a token. */
import { CODE_MINUTES, CODE_TRIES, NODE_LIMITS, type NodeAbout, PING_MS } from '../contract/node.ts';
import { sql } from 'kysely';
import { noteChange } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { affects, execute, readRow, readRows, type RowOf } from '#store/postgres/statements.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { inTenantLock, inTransaction } from '#store/postgres/transaction.ts';
import { unlessTaken } from '#store/postgres/unless-taken.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';

type Hidden = 'code_id' | 'code_hash' | 'code_tries' | 'token_hash' | 'sealed' | 'key_id' | 'seen_at';

export interface NodeRow extends RowOf<'nodes', Hidden> {
  readonly seen_at: Date | null;
  readonly joined: boolean;
  /** True if an API process has it, and has received from it recently. */
  readonly connected: boolean;
}

/** If its API process died silently, a node counts as away after this time. */
export const isConnected = sql`(connection is not null and seen_at > now() - make_interval(secs => ${(3 * PING_MS) / 1000}))`;

const ROW = sql`id, name, allowed, code_expires_at, about, connection, seen_at, created_by, created_at,
  token_hash is not null as joined, ${isConnected} as connected`;

export interface Invite {
  readonly id: string;
  readonly name: string;
  readonly allowed: readonly string[] | null;
  readonly codeId: string;
  readonly codeHash: Buffer;
}

/** Returns when the code expires. A node that has not joined gets the code in place of an earlier one. */
export function inviteNode(
  db: TenantDb,
  { id, name, allowed, codeId, codeHash }: Invite,
  by: string,
): Promise<{ readonly code_expires_at: Date } | 'taken' | 'full'> {
  return inTenantLock(db, async (tx) => {
    const same = await readRow<{ joined: boolean }>(tx)`
      select token_hash is not null as joined from nodes where tenant_id = ${tx} and name = ${name}`;
    if (same?.joined) return 'taken';
    const made = await readRow<{ code_expires_at: Date }>(tx)`
      insert into nodes (tenant_id, id, name, allowed, code_id, code_hash, code_expires_at, created_by)
      select ${tx}, ${id}, ${name}, ${allowed && [...allowed]}::text[], ${codeId}, ${codeHash},
        now() + make_interval(mins => ${CODE_MINUTES}), ${by}
      where ${same !== undefined} or (select count(*) from nodes where tenant_id = ${tx}) < ${NODE_LIMITS.nodes}
      on conflict (tenant_id, name) do update set allowed = excluded.allowed, code_id = excluded.code_id, code_tries = 0,
        code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at, created_by = excluded.created_by
      returning code_expires_at`;
    return made ?? 'full';
  });
}

/** What a node's key is bound to. */
export function nodePlace(tenant: string, id: string): string {
  return `${tenant}/nodes/${id}`;
}

/** Returns its name; undefined when the code is wrong, expired or used. The same token again is the same join. */
export function joinNode(
  pool: Pool,
  sealer: Pick<Sealer, 'seal' | 'keyId'>,
  code: { readonly id: string; readonly hash: Buffer },
  token: { readonly hash: Buffer; readonly key: Uint8Array },
): Promise<string | undefined> {
  return inTransaction(pool, async (tx) => {
    const row = await readRow<{ tenant_id: string; id: string; name: string; fits: boolean; free: boolean }>(
      tx,
    )`
      select tenant_id, id, name, code_hash = ${code.hash} as fits, token_hash is null or token_hash = ${token.hash} as free
      from nodes where code_id = ${code.id} and code_expires_at > now() and code_tries < ${CODE_TRIES} for update`;
    if (!row) return undefined;
    const { tenant_id: tenant, id, name, fits, free } = row;
    await refuseFrozen(forTenant(tx, tenant));
    if (fits && !free) return undefined;
    const sealed = sealer.seal(Buffer.from(token.key).toString('base64'), nodePlace(tenant, id));
    const set = fits
      ? sql`token_hash = ${token.hash}, sealed = ${sealed}, key_id = ${sealer.keyId}`
      : sql`code_tries = code_tries + 1`;
    await execute(tx)`update nodes set ${set} where tenant_id = ${tenant} and id = ${id}`;
    return fits ? name : undefined;
  });
}

/** The node that has the token. */
export function findNodeByToken(
  pool: Pool,
  tokenHash: Buffer,
): Promise<{ readonly tenant_id: string; readonly id: string } | undefined> {
  return readRow<{ tenant_id: string; id: string }>(pool)`
    select tenant_id, id from nodes where token_hash = ${tokenHash}`;
}

/** Whether any tenant's node takes its work from a task queue, and so is a client of Temporal. */
export function hasQueueNodes(pool: Pool): Promise<boolean> {
  return affects(pool)`select from nodes where about ->> 'task_queue' is not null limit 1`;
}

export function findNode(db: TenantDb, name: string): Promise<NodeRow | undefined> {
  return readRow<NodeRow>(db)`select ${ROW} from nodes where tenant_id = ${db} and name = ${name}`;
}

export function listNodes(db: TenantDb): Promise<NodeRow[]> {
  return readRows<NodeRow>(db)`select ${ROW} from nodes where tenant_id = ${db} order by name`;
}

export function renameNode(db: TenantDb, name: string, to: string): Promise<NodeRow | 'taken' | 'missing'> {
  return unlessTaken(
    'missing',
    readRow<NodeRow>(db)`
      update nodes set name = ${to} where tenant_id = ${db} and name = ${name} returning ${ROW}`,
  );
}

/** Its invocations end with it. The process that has it connected and those that wait for it are notified. */
export function deleteNode(db: TenantDb, name: string): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const node = await readRow<{ id: string }>(tx)`
      select id from nodes where tenant_id = ${tx} and name = ${name} for update`;
    if (!node) return false;
    // Invocations come before the changes, in the order in which all others lock them.
    await execute(tx)`
      with ended as (
        update node_invocations set status = case status when 'waiting' then 'unsent' else 'unknown' end, ended_at = now()
        where tenant_id = ${tx} and node_id = ${node.id} and status in ('waiting','sent') returning id),
      ${noteChange(db.tenant, 'node_results', 'ended')}
      select from noted`;
    await execute(tx)`
      with gone as (delete from nodes where tenant_id = ${tx} and id = ${node.id} returning id),
      ${noteChange(db.tenant, 'nodes', 'gone')}
      select from noted`;
    return true;
  });
}

/** Records that this connection has it now, and no other. Returns false when it was deleted. */
export function connectNode(
  db: TenantDb,
  id: string,
  connection: string,
  about: NodeAbout,
): Promise<boolean> {
  return affects(db)`
    with taken as (
      update nodes set connection = ${connection}, seen_at = now(), about = ${JSON.stringify(about)}
      where tenant_id = ${db} and id = ${id} returning id),
    ${noteChange(db.tenant, 'nodes', 'taken')}
    select id from taken, noted`;
}

/** The connections that still have their node. */
export async function connectedNodes(
  pool: Pool,
  connections: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await readRows<{ connection: string }>(pool)`
    select connection from nodes where connection = any (${[...connections]}::uuid[])`;
  return new Set(rows.map(({ connection }) => connection));
}

/** Does the same, and records that they were seen now. */
export async function seeNodes(pool: Pool, connections: readonly string[]): Promise<ReadonlySet<string>> {
  await execute(pool)`update nodes set seen_at = now() where connection = any (${[...connections]}::uuid[])`;
  return connectedNodes(pool, connections);
}

/** Whether the node still exists, with another connection; otherwise it was deleted. */
export function hasNode(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`select from nodes where tenant_id = ${db} and id = ${id}`;
}

export async function disconnectNode(pool: Pool, connection: string): Promise<void> {
  await execute(pool)`
    update nodes set connection = null, seen_at = now() where connection = ${connection}`;
}
