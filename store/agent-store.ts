/** Agents and their revisions: the row holds the newest, `agent_revisions` all of them. */
import type { AgentConfig } from '#domain/agent.ts';
import type { Pool } from './pool.ts';

export interface AgentRow {
  readonly key: string;
  readonly revision: number;
  readonly config: AgentConfig;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const COLUMNS = 'key, revision, config, created_at, updated_at';

/**
 * Makes an agent, or makes a deleted one anew with the next revision; undefined when the key is taken.
 * One statement, so that a row and its revision are never apart.
 */
export async function insertAgent(
  pool: Pool,
  tenant: string,
  config: AgentConfig,
  by: string,
): Promise<AgentRow | undefined> {
  const { rows } = await pool.query<AgentRow>(
    `with made as (
       insert into agents (tenant_id, key, revision, config) values ($1, $2, 1, $3)
       on conflict (tenant_id, key) do update set config = excluded.config, revision = agents.revision + 1,
         updated_at = now(), created_at = now(), deleted_at = null
         where agents.deleted_at is not null
       returning ${COLUMNS}),
     kept as (
       insert into agent_revisions (tenant_id, agent_key, revision, config, created_by)
       select $1, key, revision, config, $4 from made)
     select ${COLUMNS} from made`,
    [tenant, config.key, JSON.stringify(config), by],
  );
  return rows[0];
}

/** The next revision; undefined when the agent is gone or no longer at `revision`. */
export async function updateAgent(
  pool: Pool,
  tenant: string,
  revision: number,
  config: AgentConfig,
  by: string,
): Promise<AgentRow | undefined> {
  const { rows } = await pool.query<AgentRow>(
    `with changed as (
       update agents set config = $4, revision = revision + 1, updated_at = now()
       where tenant_id = $1 and key = $2 and revision = $3 and deleted_at is null returning ${COLUMNS}),
     kept as (
       insert into agent_revisions (tenant_id, agent_key, revision, config, created_by)
       select $1, key, revision, config, $5 from changed)
     select ${COLUMNS} from changed`,
    [tenant, config.key, revision, JSON.stringify(config), by],
  );
  return rows[0];
}

export async function findAgent(pool: Pool, tenant: string, key: string): Promise<AgentRow | undefined> {
  const { rows } = await pool.query<AgentRow>(
    `select ${COLUMNS} from agents where tenant_id = $1 and key = $2 and deleted_at is null`,
    [tenant, key],
  );
  return rows[0];
}

export async function listAgents(
  pool: Pool,
  tenant: string,
  limit: number,
  after: string,
): Promise<AgentRow[]> {
  const { rows } = await pool.query<AgentRow>(
    `select ${COLUMNS} from agents where tenant_id = $1 and key > $2 and deleted_at is null order by key limit $3`,
    [tenant, after, limit],
  );
  return rows;
}

/** Sessions of a deleted agent go on with its last revision; new ones cannot name it. */
export async function deleteAgent(pool: Pool, tenant: string, key: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update agents set deleted_at = now(), updated_at = now() where tenant_id = $1 and key = $2 and deleted_at is null',
    [tenant, key],
  );
  return (rowCount ?? 0) > 0;
}

/** Where the commands of the tenant's agents run, each setting once; also of deleted ones, whose sessions go on. */
export async function agentSandboxes(
  pool: Pool,
  tenant: string,
): Promise<readonly (NonNullable<AgentConfig['sandbox']> | null)[]> {
  const { rows } = await pool.query<{ sandbox: NonNullable<AgentConfig['sandbox']> | null }>(
    `select distinct config -> 'sandbox' as sandbox from agents where tenant_id = $1`,
    [tenant],
  );
  return rows.map(({ sandbox }) => sandbox);
}
