/**
 * Stores MCP servers (MC-1). The same commit notes a change, so that catalogs and the workers' connections learn of it.
 */
import { type RawBuilder, sql } from 'kysely';
import type { McpCredentials, McpServerConfig } from '../rules/server.ts';
import type { MCP_ORIGINS, McpStatus } from '../schema/mcp-server.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { Sealer } from '#store/seal.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTenantLock, inTransaction } from '#store/postgres/transaction.ts';
import { unlessTaken } from '#store/postgres/unless-taken.ts';
import { IS_THAWED } from '#store/tenant-freeze.ts';

export interface McpServerRow {
  readonly id: string;
  readonly name: string;
  readonly base: string;
  readonly config: McpServerConfig;
  /** JSON of McpCredentials, bound to `mcpServerPlace(tenant, id)`. */
  readonly sealed: string;
  readonly revision: number;
  readonly status: McpStatus;
  readonly error: string | null;
  readonly origin: (typeof MCP_ORIGINS)[number];
  readonly updated_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface McpServerToWrite {
  readonly id: string;
  readonly name: string;
  readonly base: string;
  readonly config: McpServerConfig;
  readonly sealed: string;
  readonly keyId: string;
  readonly by: string;
  /** Only for a new one. */
  readonly origin?: McpServerRow['origin'];
}

/** Servers of a tenant: the tools of all are in the memory of each process that works for it. */
export const MAX_MCP_SERVERS = 100;

const COLUMNS = sql`id, name, base, config, sealed, revision, status, error, origin, updated_by, created_at, updated_at`;

/** Where credentials go: those for one address are not for another. */
export function addressIn(config: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(${config} -> 'url', ${config} -> 'command', ${config} -> 'args')`;
}

export function mcpServerPlace(tenant: string, id: string): string {
  return `${tenant}/mcp_servers/${id}`;
}

/** For sealing again, or to list names; values go nowhere else. */
export function openServerCredentials(
  sealer: Sealer,
  tenant: string,
  { id, sealed }: Pick<McpServerRow, 'id' | 'sealed'>,
): McpCredentials {
  return JSON.parse(sealer.open(sealed, mcpServerPlace(tenant, id))) as McpCredentials;
}

/** Returns `taken` if another server has its name, or its tools would have the same names. */
export function insertMcpServer(
  db: TenantDb,
  server: McpServerToWrite,
): Promise<McpServerRow | 'taken' | 'full'> {
  const { id, name, base, config, sealed, keyId, by, origin = 'api' } = server;
  return unlessTaken(
    'full',
    inTenantLock(
      db,
      (tx) => readRow<McpServerRow>(tx)`with saved as (
       insert into mcp_servers (tenant_id, id, name, base, config, sealed, key_id, updated_by, origin)
       select ${tx}, ${id}, ${name}, ${base}, ${JSON.stringify(config)}, ${sealed}, ${keyId}, ${by}, ${origin}
       where (select count(*) from mcp_servers where tenant_id = ${tx}) < ${MAX_MCP_SERVERS}
       returning ${COLUMNS}),
     ${noteChange(db.tenant, 'custom_tools', 'saved')}
     select ${COLUMNS} from saved`,
    ),
  );
}

/** A statement of its own, so that the next one sees the rows of the server for which this one has waited. */
export async function lockMcpServer(tx: TenantTx, id: string): Promise<void> {
  await execute(tx)`select from mcp_servers where tenant_id = ${tx} and id = ${id} for no key update`;
}

/**
 * If its address changes, all users' credentials for it are deleted. Its connections end and it is checked anew; calls
 * that were judged by its old form do not run. Returns `stale` if it is gone, or was changed by another writer.
 */
export function updateMcpServer(
  db: TenantDb,
  server: McpServerToWrite,
  revision: number,
): Promise<McpServerRow | 'taken' | 'stale'> {
  const change = inTransaction(db, async (tx) => {
    await lockMcpServer(tx, server.id);
    return changeMcpServer(tx, server, revision);
  });
  return unlessTaken('stale', change);
}

function changeMcpServer(
  db: TenantTx,
  { id, name, base, config, sealed, keyId, by }: McpServerToWrite,
  revision: number,
): Promise<McpServerRow | undefined> {
  return readRow<McpServerRow>(db)`with saved as (
       update mcp_servers set name = ${name}, base = ${base}, config = ${JSON.stringify(config)}, sealed = ${sealed},
         key_id = ${keyId}, updated_by = ${by}, updated_at = now(), revision = revision + 1, status = 'connecting', error = null,
         check_asked_at = clock_timestamp()
       where tenant_id = ${db} and id = ${id} and revision = ${revision} returning ${COLUMNS}),
     tools as (
       update mcp_tools t set revision = t.revision + 1 from saved
       where t.tenant_id = ${db} and t.server_id = saved.id),
     left_behind as (
       delete from mcp_credentials c using saved, mcp_servers before
       where c.tenant_id = ${db} and c.server_id = saved.id and before.tenant_id = ${db} and before.id = saved.id
         and ${addressIn(sql`before.config`)} is distinct from ${addressIn(sql`saved.config`)}),
     ${noteChange(db.tenant, 'custom_tools', 'saved')}
     select ${COLUMNS} from saved`;
}

/** Deletes it with its tools and grants. Returns false when there was none. */
export function deleteMcpServer(db: TenantDb, name: string): Promise<boolean> {
  return affects(db)`
    with gone as (delete from mcp_servers where tenant_id = ${db} and name = ${name} returning id),
     ${noteChange(db.tenant, 'custom_tools', 'gone')}
     select id from gone`;
}

export function findMcpServer(db: TenantDb, name: string): Promise<McpServerRow | undefined> {
  return readRow<McpServerRow>(db)`
    select ${COLUMNS} from mcp_servers where tenant_id = ${db} and name = ${name}`;
}

export function listMcpServers(db: TenantDb): Promise<McpServerRow[]> {
  return readRows<McpServerRow>(db)`
    select ${COLUMNS} from mcp_servers where tenant_id = ${db} order by name`;
}

/**
 * Requests a check from the workers, over the connection of `user` if there is one; `fresh` ends their current
 * connections. Resolves with the input for `isChecked`.
 */
export async function askForCheck(
  db: TenantDb,
  id: string,
  fresh: boolean,
  user: string | null = null,
): Promise<string | undefined> {
  const row = await readRow<{ requestedAt: string }>(db)`with requested as (
     update mcp_servers set check_asked_at = clock_timestamp(), check_user = ${user}, revision = revision + ${fresh ? 1 : 0}
     where tenant_id = ${db} and id = ${id} returning check_asked_at::text as "requestedAt"),
   ${noteChange(db.tenant, 'custom_tools', 'requested')}
   select "requestedAt" from requested`;
  return row?.requestedAt;
}

export function isChecked(db: TenantDb, id: string, requested: string): Promise<boolean> {
  return affects(db)`
    select from mcp_servers where tenant_id = ${db} and id = ${id} and checked_at >= ${requested}::timestamptz`;
}

export interface McpServerToUse extends McpServerRow {
  readonly tenant: string;
}

export interface McpCheck {
  readonly server: McpServerToUse;
  readonly requestedAt: string;
  /** Empty for the server's own credentials. */
  readonly user: string;
}

/** After this, another worker takes over from one that died. */
const CHECK_LEASE = '2 minutes';
const CHECKS_AT_ONCE = 10;

/** Servers that wait for a check, of one tenant or of all; each goes to one worker. */
export async function claimChecks(pool: Pool, tenant: string | undefined): Promise<McpCheck[]> {
  const rows = await readRows<McpServerToUse & Omit<McpCheck, 'server'>>(pool)`
    update mcp_servers set checking_until = now() + ${CHECK_LEASE}::interval
    where (tenant_id, id) in (
      select tenant_id, id from mcp_servers
      where (checked_at is null or checked_at < check_asked_at) and (checking_until is null or checking_until < now())
        and (${tenant}::text is null or tenant_id = ${tenant}) and (config ->> 'enabled')::boolean and ${IS_THAWED}
      order by check_asked_at limit ${CHECKS_AT_ONCE} for update skip locked)
    returning tenant_id as tenant, check_asked_at::text as "requestedAt",
      coalesce(check_user, '') as "user", ${COLUMNS}`;
  return rows.map(({ requestedAt, user, ...server }) => ({ server, requestedAt, user }));
}

export async function endCheck(pool: Pool, { server, requestedAt }: McpCheck): Promise<void> {
  await affects(pool)`
    update mcp_servers set checked_at = ${requestedAt}::timestamptz, checking_until = null,
      check_user = case when check_asked_at <= ${requestedAt}::timestamptz then null else check_user end
    where tenant_id = ${server.tenant} and id = ${server.id}`;
}

/** Records the status of a connection of this revision; an older one no longer counts. */
export async function recordMcpStatus(
  pool: Pool,
  { tenant, id, revision }: Pick<McpServerToUse, 'tenant' | 'id' | 'revision'>,
  status: McpStatus,
  error: string | null,
): Promise<void> {
  await affects(pool)`
    update mcp_servers set status = ${status}, error = ${error}
    where tenant_id = ${tenant} and id = ${id} and revision = ${revision} and (status, error) is distinct from (${status}, ${error})`;
}

/** Ids and revisions of the servers to which connections are allowed. */
export async function currentRevisions(db: TenantDb): Promise<ReadonlyMap<string, number>> {
  const rows = await readRows<Pick<McpServerRow, 'id' | 'revision'>>(db)`
    select id, revision from mcp_servers where tenant_id = ${db} and (config ->> 'enabled')::boolean`;
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}
