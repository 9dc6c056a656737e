/**
 * Agents and their revisions: the row contains the one that all sessions get except those of a rollout, and
 * `agent_revisions` contains all.
 */
import { type RawBuilder, sql } from 'kysely';
import type { AgentConfig } from '#domain/agent.ts';
import { affects, readRow, readRows, type RowOf } from './postgres/statements.ts';
import type { TenantDb, TenantTx } from './postgres/tenant-db.ts';

export type AgentRow = RowOf<'agents', 'links' | 'deleted_at'>;

const COLUMNS = sql`key, revision, config, rollout, created_at, updated_at`;

/** The number of the agent's next revision: those of rollouts that were put back keep theirs. */
export function nextRevision(db: TenantDb | TenantTx, key: string): RawBuilder<number> {
  return sql`(select coalesce(max(revision), 0) + 1 from agent_revisions where tenant_id = ${db.tenant} and agent_key = ${key})`;
}

/**
 * Creates an agent, or a deleted one again with the next revision; undefined when the key is taken. It is one
 * statement, so that a row always has its revision.
 */
export function insertAgent(db: TenantDb, config: AgentConfig, by: string): Promise<AgentRow | undefined> {
  return readRow<AgentRow>(db)`with made as (
       insert into agents (tenant_id, key, revision, config) values (${db}, ${config.key}, 1,
         ${JSON.stringify(config)})
       on conflict (tenant_id, key) do update set config = excluded.config, revision = ${nextRevision(db, config.key)},
         updated_at = now(), created_at = now(), deleted_at = null
         where agents.deleted_at is not null
       returning ${COLUMNS}),
     kept as (
       insert into agent_revisions (tenant_id, agent_key, revision, config, created_by)
       select ${db}, key, revision, config, ${by} from made)
     select ${COLUMNS} from made`;
}

/** Writes the next revision; undefined when the agent is gone, no longer at `revision`, or in a rollout. */
export function updateAgent(
  db: TenantDb,
  revision: number,
  config: AgentConfig,
  by: string,
): Promise<AgentRow | undefined> {
  return readRow<AgentRow>(db)`with changed as (
       update agents set config = ${JSON.stringify(config)}, revision = ${nextRevision(db, config.key)}, updated_at = now()
       where tenant_id = ${db} and key = ${config.key} and revision = ${revision} and rollout is null
         and deleted_at is null
         returning ${COLUMNS}),
     kept as (
       insert into agent_revisions (tenant_id, agent_key, revision, config, created_by)
       select ${db}, key, revision, config, ${by} from changed)
     select ${COLUMNS} from changed`;
}

export function findAgent(db: TenantDb, key: string): Promise<AgentRow | undefined> {
  return readRow<AgentRow>(db)`
    select ${COLUMNS} from agents where tenant_id = ${db} and key = ${key} and deleted_at is null`;
}

/** Returns those of the keys that belong to an agent. */
export async function knownAgents(db: TenantDb, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await readRows<{ key: string }>(db)`
    select key from agents where tenant_id = ${db} and key = any(${keys}) and deleted_at is null`;
  return rows.map(({ key }) => key);
}

export function listAgents(db: TenantDb, limit: number, after: string): Promise<AgentRow[]> {
  return readRows<AgentRow>(db)`
    select ${COLUMNS} from agents where tenant_id = ${db} and key > ${after} and deleted_at is null
      order by key limit ${limit}`;
}

/**
 * Sessions of a deleted agent continue with its last revision; new ones cannot name it. False when there is none, or one
 * in a rollout.
 */
export function deleteAgent(db: TenantDb, key: string): Promise<boolean> {
  return affects(db)`update agents set deleted_at = now(), updated_at = now()
     where tenant_id = ${db} and key = ${key} and deleted_at is null and rollout is null`;
}

/** Sandbox settings of the tenant's agents, each once; including deleted agents, whose sessions continue. */
export async function agentSandboxes(
  db: TenantDb,
): Promise<readonly (NonNullable<AgentConfig['sandbox']> | null)[]> {
  const rows = await readRows<{ sandbox: NonNullable<AgentConfig['sandbox']> | null }>(db)`
    select distinct config -> 'sandbox' as sandbox from agents where tenant_id = ${db}`;
  return rows.map(({ sandbox }) => sandbox);
}
