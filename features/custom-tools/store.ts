/** Stores custom tools (CU-1). The same statement notes each change, so that every process learns of it. */
import { type RawBuilder, sql } from 'kysely';
import type { CustomToolDefinition } from './rules/definition.ts';
import { noteChange } from '#store/postgres/change-feed.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';
import { unlessTaken } from '#store/postgres/unless-taken.ts';

export interface CustomToolRow extends CustomToolDefinition {
  /** Names of its variables; the values are sealed in a table of their own. */
  readonly env_names: readonly string[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Tools of a tenant; all of them are in the memory of each worker that works for it. */
export const MAX_CUSTOM_TOOLS = 500;

/** How long rows of deleted tools stay, so that running calls can report the deletion. */
const KEPT = '30 days';

const COLUMNS = sql`t.id, t.name, t.description, t.parameters, t.command, t.working_dir, t.timeout_seconds,
  t.agent_key as agent_id, t.enabled, t.replay, t.revision, t.env_names, t.created_by, t.created_at, t.updated_at`;

/** What is written for a tool: its fields, and its sealed variables (undefined keeps them, null removes them). */
export interface ToolToWrite extends Omit<CustomToolDefinition, 'revision'> {
  readonly env_names: readonly string[];
  readonly env?: { readonly sealed: string; readonly keyId: string } | null;
}

const FIELDS = sql`name, description, parameters, command, working_dir, timeout_seconds, agent_key, enabled, replay, env_names`;

function valuesOf({ name, description, parameters, command, ...tool }: ToolToWrite): RawBuilder<unknown> {
  const { working_dir, timeout_seconds, agent_id, enabled, replay, env_names } = tool;
  return sql`${name}, ${description}, ${JSON.stringify(parameters)}, ${command}, ${working_dir}, ${timeout_seconds},
    ${agent_id}, ${enabled}, ${replay}, ${[...env_names]}`;
}

/** Returns `full` if the tenant has its maximum of tools. */
export function insertCustomTool(
  db: TenantDb,
  tool: ToolToWrite,
  by: string,
): Promise<CustomToolRow | 'taken' | 'full'> {
  return unlessTaken(
    'full',
    inTenantLock(
      db,
      (tx) => readRow<CustomToolRow>(tx)`with t as (
       insert into custom_tools (tenant_id, id, ${FIELDS}, created_by)
       select ${tx}, ${tool.id}, ${valuesOf(tool)}, ${by}
       where (select count(*) from custom_tools where tenant_id = ${tx} and deleted_at is null) < ${MAX_CUSTOM_TOOLS}
       returning *),
     env as (${envOf(db.tenant, tool)}),
     ${noteChange(db.tenant, 'custom_tools', 't')}
     select ${COLUMNS} from t`,
    ),
  );
}

/** Returns the next revision; `stale` when the tool is gone or no longer at `revision`. */
export function updateCustomTool(
  db: TenantDb,
  tool: ToolToWrite,
  revision: number,
): Promise<CustomToolRow | 'taken' | 'stale'> {
  return unlessTaken(
    'stale',
    readRow<CustomToolRow>(db)`with t as (
       update custom_tools set (${FIELDS}) = (${valuesOf(tool)}), revision = revision + 1, updated_at = now()
       where tenant_id = ${db} and id = ${tool.id} and revision = ${revision} and deleted_at is null returning *),
     no_env as (
       delete from custom_tool_env e using t where ${tool.env === null} and e.tenant_id = ${db} and e.tool_id = t.id),
     env as (${envOf(db.tenant, tool)}
       on conflict (tenant_id, tool_id) do update set sealed = excluded.sealed, key_id = excluded.key_id),
     ${noteChange(db.tenant, 'custom_tools', 't')}
     select ${COLUMNS} from t`,
  );
}

/** Writes its variables, if they are present. */
function envOf(tenant: string, { env }: ToolToWrite): RawBuilder<unknown> {
  return sql`insert into custom_tool_env (tenant_id, tool_id, sealed, key_id)
       select ${tenant}, t.id, ${env?.sealed}::text, ${env?.keyId}::text from t where ${Boolean(env)}`;
}

/** Removes its variables at once; the row is kept for a while. Returns false when there was none. */
export function deleteCustomTool(db: TenantDb, id: string): Promise<boolean> {
  return affects(db)`with t as (
       update custom_tools set deleted_at = now(), env_names = '{}'
       where tenant_id = ${db} and id = ${id} and deleted_at is null returning id),
     no_env as (delete from custom_tool_env e using t where e.tenant_id = ${db} and e.tool_id = t.id),
     old as (delete from custom_tools where tenant_id = ${db} and deleted_at < now() - ${KEPT}::interval),
     ${noteChange(db.tenant, 'custom_tools', 't')}
     select id from t`;
}

export function findCustomTool(db: TenantDb, id: string): Promise<CustomToolRow | undefined> {
  return readRow<CustomToolRow>(db)`
    select ${COLUMNS} from custom_tools t where t.tenant_id = ${db} and t.id = ${id} and t.deleted_at is null`;
}

export interface CustomToolFilter {
  readonly name?: string | undefined;
  readonly agent?: string | undefined;
  /** Part of a name or description, in any letter case. */
  readonly search?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export async function listCustomTools(
  db: TenantDb,
  filter: CustomToolFilter,
): Promise<{ readonly tools: readonly CustomToolRow[]; readonly total: number }> {
  const { agent, name, search, limit, offset } = filter;
  const where = sql`t.tenant_id = ${db} and t.deleted_at is null and (${agent}::text is null or t.agent_key = ${agent})
    and (${name}::text is null or t.name = ${name})
    and (${search}::text is null or position(lower(${search}) in lower(t.name || ' ' || t.description)) > 0)`;
  const [tools, counted] = await Promise.all([
    readRows<CustomToolRow>(db)`
      select ${COLUMNS} from custom_tools t where ${where} order by t.name, t.agent_key nulls first
      limit ${limit} offset ${offset}`,
    readRow<{ total: number }>(db)`select count(*)::int as total from custom_tools t where ${where}`,
  ]);
  return { tools, total: counted?.total ?? 0 };
}

/** All that are enabled, by their names. */
export function readTenantTools(db: TenantDb): Promise<readonly CustomToolDefinition[]> {
  return readRows<CustomToolDefinition>(db)`
    select ${COLUMNS} from custom_tools t where t.tenant_id = ${db} and t.deleted_at is null and t.enabled
    order by t.name`;
}

export interface ToolOfCall {
  readonly definition: CustomToolDefinition;
  readonly isDeleted: boolean;
  readonly sealed: string | null;
}

/** The tool that a call was planned with, in its current form; undefined when it was no custom tool. */
export async function readToolOfCall(db: TenantDb, call: string): Promise<ToolOfCall | undefined> {
  const row = await readRow<CustomToolRow & { is_deleted: boolean; sealed: string | null }>(db)`
    select ${COLUMNS}, t.deleted_at is not null as is_deleted, e.sealed
    from tool_calls c
    join custom_tools t on t.tenant_id = c.tenant_id and t.id = c.custom_tool_id
    left join custom_tool_env e on e.tenant_id = t.tenant_id and e.tool_id = t.id
    where c.tenant_id = ${db} and c.id = ${call}`;
  return row && { definition: row, isDeleted: row.is_deleted, sealed: row.sealed };
}
