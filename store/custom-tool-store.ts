/** Custom tools as rows (CU-1). Each change is noted in the same statement, so that every process learns of it. */
import type { CustomToolDefinition } from '#domain/custom-tool/definition.ts';
import { noteChange } from './change-feed.ts';
import type { Pool } from './pool.ts';

export interface CustomToolRow extends CustomToolDefinition {
  /** Names of its variables; the values are sealed in a table of their own. */
  readonly env_names: readonly string[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Of a tenant; all of them are in the memory of each worker that works for it. */
export const MAX_CUSTOM_TOOLS = 500;

/** Rows of deleted tools, by which calls in flight learn what became of theirs. */
const KEPT = '30 days';

const COLUMNS = `t.id, t.name, t.description, t.parameters, t.command, t.working_dir, t.timeout_seconds,
  t.agent_key as agent_id, t.enabled, t.replay, t.revision, t.env_names, t.created_by, t.created_at, t.updated_at`;

/** What is written of a tool: its fields, and its sealed variables (undefined: as they are; null: none). */
export interface ToolToWrite extends Omit<CustomToolDefinition, 'revision'> {
  readonly env_names: readonly string[];
  readonly env?: { readonly sealed: string; readonly keyId: string } | null;
}

const FIELDS = `name = $3, description = $4, parameters = $5, command = $6, working_dir = $7, timeout_seconds = $8,
  agent_key = $9, enabled = $10, replay = $11, env_names = $12`;

function valuesOf(tenant: string, tool: ToolToWrite): unknown[] {
  return [
    tenant,
    tool.id,
    tool.name,
    tool.description,
    JSON.stringify(tool.parameters),
    tool.command,
    tool.working_dir,
    tool.timeout_seconds,
    tool.agent_id,
    tool.enabled,
    tool.replay,
    [...tool.env_names],
    tool.env?.sealed ?? null,
    tool.env?.keyId ?? null,
  ];
}

/** `full`: the tenant has as many as it may. */
export function insertCustomTool(
  pool: Pool,
  tenant: string,
  tool: ToolToWrite,
  by: string,
): Promise<CustomToolRow | 'taken' | 'full'> {
  return written(
    pool,
    'full',
    `with t as (
       insert into custom_tools (tenant_id, id, name, description, parameters, command, working_dir, timeout_seconds,
         agent_key, enabled, replay, env_names, created_by)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $15
       where (select count(*) from custom_tools where tenant_id = $1 and deleted_at is null) < ${MAX_CUSTOM_TOOLS}
       returning *),
     env as (
       insert into custom_tool_env (tenant_id, tool_id, sealed, key_id)
       select $1, t.id, $13::text, $14::text from t where $13::text is not null),
     ${noteChange('custom_tools', 't')}
     select ${COLUMNS} from t`,
    [...valuesOf(tenant, tool), by],
  );
}

/** The next revision; `stale` when the tool is gone or no longer at `revision`. */
export function updateCustomTool(
  pool: Pool,
  tenant: string,
  tool: ToolToWrite,
  revision: number,
): Promise<CustomToolRow | 'taken' | 'stale'> {
  return written(
    pool,
    'stale',
    `with t as (
       update custom_tools set ${FIELDS}, revision = revision + 1, updated_at = now()
       where tenant_id = $1 and id = $2 and revision = $15 and deleted_at is null returning *),
     no_env as (
       delete from custom_tool_env e using t
       where $16 and $13::text is null and e.tenant_id = $1 and e.tool_id = t.id),
     env as (
       insert into custom_tool_env (tenant_id, tool_id, sealed, key_id)
       select $1, t.id, $13::text, $14::text from t where $13::text is not null
       on conflict (tenant_id, tool_id) do update set sealed = excluded.sealed, key_id = excluded.key_id),
     ${noteChange('custom_tools', 't')}
     select ${COLUMNS} from t`,
    [...valuesOf(tenant, tool), revision, tool.env !== undefined],
  );
}

/** The row that was written, or why there is none. */
async function written<Unwritten extends string>(
  pool: Pool,
  unwritten: Unwritten,
  text: string,
  values: readonly unknown[],
): Promise<CustomToolRow | 'taken' | Unwritten> {
  try {
    const { rows } = await pool.query<CustomToolRow>(text, [...values]);
    return rows[0] ?? unwritten;
  } catch (error) {
    if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return 'taken';
    throw error;
  }
}

const UNIQUE_VIOLATION = '23505';

/** Its variables go at once; the row is kept for a while. False when there was none. */
export async function deleteCustomTool(pool: Pool, tenant: string, id: string): Promise<boolean> {
  const { rows } = await pool.query(
    `with t as (
       update custom_tools set deleted_at = now(), env_names = '{}'
       where tenant_id = $1 and id = $2 and deleted_at is null returning id),
     no_env as (delete from custom_tool_env e using t where e.tenant_id = $1 and e.tool_id = t.id),
     old as (delete from custom_tools where tenant_id = $1 and deleted_at < now() - interval '${KEPT}'),
     ${noteChange('custom_tools', 't')}
     select id from t`,
    [tenant, id],
  );
  return rows.length > 0;
}

export async function findCustomTool(
  pool: Pool,
  tenant: string,
  id: string,
): Promise<CustomToolRow | undefined> {
  const { rows } = await pool.query<CustomToolRow>(
    `select ${COLUMNS} from custom_tools t where t.tenant_id = $1 and t.id = $2 and t.deleted_at is null`,
    [tenant, id],
  );
  return rows[0];
}

export interface CustomToolFilter {
  readonly name?: string | undefined;
  readonly agent?: string | undefined;
  /** Part of a name or description, whatever its case. */
  readonly search?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

export async function listCustomTools(
  pool: Pool,
  tenant: string,
  filter: CustomToolFilter,
): Promise<{ readonly tools: readonly CustomToolRow[]; readonly total: number }> {
  const where = `t.tenant_id = $1 and t.deleted_at is null and ($2::text is null or t.agent_key = $2)
    and ($4::text is null or t.name = $4)
    and ($3::text is null or position(lower($3) in lower(t.name || ' ' || t.description)) > 0)`;
  const values = [tenant, filter.agent ?? null, filter.search ?? null, filter.name ?? null];
  const [{ rows: tools }, { rows: counted }] = await Promise.all([
    pool.query<CustomToolRow>(
      `select ${COLUMNS} from custom_tools t where ${where} order by t.name, t.agent_key nulls first limit $5 offset $6`,
      [...values, filter.limit, filter.offset],
    ),
    pool.query<{ total: number }>(`select count(*)::int as total from custom_tools t where ${where}`, values),
  ]);
  return { tools, total: counted[0]?.total ?? 0 };
}

/** Grows with each change of the tenant's custom tools; 0 while it has had none. */
export async function readToolsVersion(pool: Pool, tenant: string): Promise<number> {
  const { rows } = await pool.query<{ version: number }>({
    name: 'read_tools_version',
    text: `select version::int as version from changes where tenant_id = $1 and kind = 'custom_tools'`,
    values: [tenant],
  });
  return rows[0]?.version ?? 0;
}

/** All that are enabled, with their version, as of one moment. */
export async function readTenantTools(
  pool: Pool,
  tenant: string,
): Promise<{ readonly version: number; readonly definitions: readonly CustomToolDefinition[] }> {
  const { rows } = await pool.query<{ version: number; definitions: CustomToolDefinition[] }>({
    name: 'read_tenant_tools',
    text: `select
        coalesce((select version::int from changes where tenant_id = $1 and kind = 'custom_tools'), 0) as version,
        coalesce((select jsonb_agg(to_jsonb(d) order by d.name) from (
          select ${COLUMNS} from custom_tools t where t.tenant_id = $1 and t.deleted_at is null and t.enabled) d),
          '[]') as definitions`,
    values: [tenant],
  });
  return rows[0] ?? { version: 0, definitions: [] };
}

export interface ToolOfCall {
  readonly definition: CustomToolDefinition;
  readonly isDeleted: boolean;
  readonly sealed: string | null;
}

/** The tool that a call was planned with, as it is now; undefined when that was none of these. */
export async function readToolOfCall(
  pool: Pool,
  tenant: string,
  call: string,
): Promise<ToolOfCall | undefined> {
  const { rows } = await pool.query<CustomToolRow & { is_deleted: boolean; sealed: string | null }>({
    name: 'read_tool_of_call',
    text: `select ${COLUMNS}, t.deleted_at is not null as is_deleted, e.sealed
           from tool_calls c
           join custom_tools t on t.tenant_id = c.tenant_id and t.id = c.custom_tool_id
           left join custom_tool_env e on e.tenant_id = t.tenant_id and e.tool_id = t.id
           where c.tenant_id = $1 and c.id = $2`,
    values: [tenant, call],
  });
  const row = rows[0];
  return row && { definition: row, isDeleted: row.is_deleted, sealed: row.sealed };
}
