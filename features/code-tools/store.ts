/** Tool hosts and the tools that they have registered. */
import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { noteChange } from '#store/postgres/change-feed.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';
import type { Sealer } from '#store/seal.ts';
import { HOST_LIMITS } from './contract.ts';
import type { CodeHookDefinition, CodeToolDefinition } from './schema.ts';

export interface ToolHostRow {
  readonly name: string;
  /** Of the sources of its tools and hooks. */
  readonly version: string;
  readonly tools: readonly (CodeToolDefinition & { readonly revision: number })[];
  readonly hooks: readonly CodeHookDefinition[];
  readonly updated_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface CodeToolRow {
  readonly id: string;
  readonly host: string;
  readonly revision: number;
  readonly definition: CodeToolDefinition;
}

/** How long rows of deleted tools stay, so that running calls can report the deletion. */
const KEPT = '30 days';

const HOST = sql`h.name, h.version, h.hooks, h.updated_by, h.created_at, h.updated_at, coalesce((
  select jsonb_agg(t.definition || jsonb_build_object('revision', t.revision) order by t.name) from code_tools t
  where t.tenant_id = h.tenant_id and t.host = h.name and t.deleted_at is null), '[]') as tools`;

const hostPlace = (tenant: string, name: string): string => `${tenant}/tool_hosts/${name}`;

/**
 * Creates or replaces a host with all its tools. A tool whose definition is the same keeps its revision. Returns the
 * names that another host has, or 'full'. Safe to repeat.
 */
export function putToolHost(
  db: TenantDb,
  sealer: Pick<Sealer, 'seal' | 'keyId'>,
  host: {
    readonly name: string;
    readonly sealKey: string;
    readonly tools: readonly CodeToolDefinition[];
    readonly hooks: readonly CodeHookDefinition[];
  },
  by: string,
): Promise<'full' | readonly string[]> {
  const { name, sealKey } = host;
  const tools = JSON.stringify(
    host.tools.map((definition) => ({ id: randomUUID(), name: definition.name, definition })),
  );
  const sealed = sealer.seal(sealKey, hostPlace(db.tenant, name));
  const hooks = JSON.stringify(host.hooks);
  const version = versionOf([...host.tools, ...host.hooks]);
  // Two hosts at once might otherwise both register a name.
  return inTenantLock(db, async (tx) => {
    const taken = await readRows<{ name: string }>(tx)`
      select name from code_tools where tenant_id = ${tx} and host <> ${name} and deleted_at is null
        and name in (select name from jsonb_to_recordset(${tools}::jsonb) as t(name text)) order by name`;
    if (taken.length > 0) return taken.map((row) => row.name);
    const isSaved = await affects(tx)`
      insert into tool_hosts (tenant_id, name, sealed, key_id, version, hooks, updated_by)
      select ${tx}, ${name}, ${sealed}, ${sealer.keyId}, ${version}, ${hooks}, ${by}
      where exists (select from tool_hosts where tenant_id = ${tx} and name = ${name})
        or (select count(*) from tool_hosts where tenant_id = ${tx}) < ${HOST_LIMITS.hosts}
      on conflict (tenant_id, name) do update set sealed = excluded.sealed, key_id = excluded.key_id,
        version = excluded.version, hooks = excluded.hooks, updated_by = excluded.updated_by, updated_at = now()
      returning name`;
    if (!isSaved) return 'full';
    await execute(tx)`
      with wanted as (
        select id, name, definition from jsonb_to_recordset(${tools}::jsonb) as t(id uuid, name text, definition jsonb)),
      saved as (
        insert into code_tools (tenant_id, id, host, name, definition)
        select ${tx}, id, ${name}, name, definition from wanted
        on conflict (tenant_id, name) where deleted_at is null do update set definition = excluded.definition,
          revision = code_tools.revision + 1, updated_at = now()
        where code_tools.definition <> excluded.definition returning id),
      gone as (
        update code_tools set deleted_at = now()
        where tenant_id = ${tx} and host = ${name} and deleted_at is null and name not in (select name from wanted)
        returning id),
      old as (delete from code_tools where tenant_id = ${tx} and deleted_at < now() - ${KEPT}::interval),
      changed as (select id from saved union all select id from gone),
      ${noteChange(tx.tenant, 'custom_tools', 'changed')}
      select from changed`;
    return [];
  });
}

function versionOf(code: readonly { readonly name: string; readonly hash: string }[]): string {
  const sources = code.map(({ name, hash }) => `${name} ${hash}`).toSorted();
  return createHash('sha256').update(sources.join('\n')).digest('hex').slice(0, 12);
}

/** Its tools are gone with it. */
export function deleteToolHost(db: TenantDb, name: string): Promise<boolean> {
  return affects(db)`
    with gone as (delete from tool_hosts where tenant_id = ${db} and name = ${name} returning name),
    tools as (
      update code_tools set deleted_at = now()
      where tenant_id = ${db} and host in (select name from gone) and deleted_at is null returning id),
    ${noteChange(db.tenant, 'custom_tools', 'gone')}
    select name from gone`;
}

export function findToolHost(db: TenantDb, name: string): Promise<ToolHostRow | undefined> {
  return readRow<ToolHostRow>(db)`
    select ${HOST} from tool_hosts h where h.tenant_id = ${db} and h.name = ${name}`;
}

export function listToolHosts(db: TenantDb): Promise<ToolHostRow[]> {
  return readRows<ToolHostRow>(
    db,
  )`select ${HOST} from tool_hosts h where h.tenant_id = ${db} order by h.name`;
}

export function listCodeTools(db: TenantDb): Promise<CodeToolRow[]> {
  return readRows<CodeToolRow>(db)`
    select id, host, revision, definition from code_tools
    where tenant_id = ${db} and deleted_at is null order by name`;
}

/** The tool that a call was planned with, as it is now; undefined when it was none of these. */
export function readToolOfCall(
  db: TenantDb,
  call: string,
): Promise<(CodeToolRow & { readonly is_deleted: boolean }) | undefined> {
  return readRow<CodeToolRow & { is_deleted: boolean }>(db)`
    select id, host, revision, definition, deleted_at is not null as is_deleted from code_tools
    where tenant_id = ${db} and id = (select custom_tool_id from tool_calls where tenant_id = ${db} and id = ${call})`;
}

export interface HostAccess {
  readonly version: string;
  /** Seals payloads for the host. */
  readonly key: Uint8Array<ArrayBuffer>;
  /** Of the tool as it is now; null when it was deleted. */
  readonly revision: number | null;
}

/** Undefined when the host was deleted. */
export async function readHostAccess(
  db: TenantDb,
  sealer: Pick<Sealer, 'open'>,
  { id, host }: Pick<CodeToolRow, 'id' | 'host'>,
): Promise<HostAccess | undefined> {
  const row = await readRow<{ sealed: string; version: string; revision: number | null }>(db)`
    select h.sealed, h.version, t.revision from tool_hosts h
    left join code_tools t on t.tenant_id = h.tenant_id and t.id = ${id} and t.deleted_at is null
    where h.tenant_id = ${db} and h.name = ${host}`;
  if (!row) return undefined;
  const key = keyOf(sealer, row.sealed, hostPlace(db.tenant, host));
  return { version: row.version, key, revision: row.revision };
}

export interface HookAccess extends Pick<HostAccess, 'version' | 'key'> {
  /** Names of the secrets that the hook gets. */
  readonly secrets: readonly string[];
}

/** Undefined when there is no such host, or it has no such hook. */
export async function readHookAccess(
  db: TenantDb,
  sealer: Pick<Sealer, 'open'>,
  { host, hook }: { readonly host: string; readonly hook: string },
): Promise<HookAccess | undefined> {
  const row = await readRow<{ sealed: string; version: string; secrets: readonly string[] }>(db)`
    select h.sealed, h.version, d -> 'secrets' as secrets from tool_hosts h, jsonb_array_elements(h.hooks) d
    where h.tenant_id = ${db} and h.name = ${host} and d ->> 'name' = ${hook}`;
  return (
    row && {
      version: row.version,
      key: keyOf(sealer, row.sealed, hostPlace(db.tenant, host)),
      secrets: row.secrets,
    }
  );
}

function keyOf(sealer: Pick<Sealer, 'open'>, sealed: string, place: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(sealer.open(sealed, place), 'base64'));
}

/** Whether any tenant has a host, which is a client of Temporal. */
export function hasToolHosts(pool: Pool): Promise<boolean> {
  return affects(pool)`select from tool_hosts limit 1`;
}
