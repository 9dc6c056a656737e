/** Remote agents and the tasks that calls began there. */
import { sql } from 'kysely';
import { noteChange } from '#store/postgres/change-feed.ts';
import { affects, execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import { inTenantLock } from '#store/postgres/transaction.ts';

export interface RemoteAgent {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly description: string;
  readonly credential: string | null;
  readonly revision: number;
}

export interface RemoteAgentRow extends RemoteAgent {
  readonly updated_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Remote agents of a tenant; each is a tool in the memory of every worker that works for it. */
export const MAX_REMOTE_AGENTS = 100;
/** How long rows of deleted ones stay, so that running calls can report the deletion. */
const KEPT = '30 days';

const COLUMNS = sql`id, name, url, description, credential, revision, updated_by, created_at, updated_at`;

/** Creates or replaces it; undefined when it would exceed the limit. Safe to repeat. */
export function putRemoteAgent(
  db: TenantDb,
  { id, name, url, description, credential }: Omit<RemoteAgent, 'revision'>,
  by: string,
): Promise<RemoteAgentRow | undefined> {
  return inTenantLock(
    db,
    (tx) => readRow<RemoteAgentRow>(tx)`with saved as (
      insert into remote_agents (tenant_id, id, name, url, description, credential, updated_by)
      select ${tx}, ${id}, ${name}, ${url}, ${description}, ${credential}, ${by}
      where exists (select from remote_agents where tenant_id = ${tx} and name = ${name} and deleted_at is null)
        or (select count(*) from remote_agents where tenant_id = ${tx} and deleted_at is null) < ${MAX_REMOTE_AGENTS}
      on conflict (tenant_id, name) where deleted_at is null do update set url = excluded.url,
        description = excluded.description, credential = excluded.credential, revision = remote_agents.revision + 1,
        updated_by = excluded.updated_by, updated_at = now()
      returning ${COLUMNS}),
    ${noteChange(db.tenant, 'custom_tools', 'saved')}
    select ${COLUMNS} from saved`,
  );
}

export function deleteRemoteAgent(db: TenantDb, name: string): Promise<boolean> {
  return affects(db)`with gone as (
      update remote_agents set deleted_at = now(), credential = null
      where tenant_id = ${db} and name = ${name} and deleted_at is null returning id),
    old as (delete from remote_agents where tenant_id = ${db} and deleted_at < now() - ${KEPT}::interval),
    ${noteChange(db.tenant, 'custom_tools', 'gone')}
    select id from gone`;
}

export function findRemoteAgent(db: TenantDb, name: string): Promise<RemoteAgentRow | undefined> {
  return readRow<RemoteAgentRow>(db)`
    select ${COLUMNS} from remote_agents where tenant_id = ${db} and name = ${name} and deleted_at is null`;
}

export function listRemoteAgents(db: TenantDb): Promise<RemoteAgentRow[]> {
  return readRows<RemoteAgentRow>(db)`
    select ${COLUMNS} from remote_agents where tenant_id = ${db} and deleted_at is null order by name`;
}

/** The remote agent that a call was planned with, as it is now; undefined when it was none. */
export function readAgentOfCall(
  db: TenantDb,
  call: string,
): Promise<(RemoteAgentRow & { readonly is_deleted: boolean }) | undefined> {
  return readRow<RemoteAgentRow & { is_deleted: boolean }>(db)`
    select ${COLUMNS}, deleted_at is not null as is_deleted from remote_agents
    where tenant_id = ${db} and id = (select custom_tool_id from tool_calls where tenant_id = ${db} and id = ${call})`;
}

export interface RemoteTask {
  readonly call: string;
  readonly agent: string;
  readonly session: string;
  readonly task: string;
}

/** Safe to repeat. */
export async function keepRemoteTask(
  db: TenantDb,
  { call, agent, session, task }: RemoteTask,
): Promise<void> {
  await execute(db)`
    insert into remote_agent_tasks (tenant_id, call_id, agent_id, session_key, task_id)
    values (${db}, ${call}, ${agent}, ${session}, ${task}) on conflict (tenant_id, call_id) do nothing`;
}

/** The task that a call of the session began at the agent, or answered. */
export async function findRemoteTask(
  db: TenantDb,
  { call, agent, session }: Omit<RemoteTask, 'task'>,
): Promise<string | undefined> {
  const row = await readRow<{ task_id: string }>(db)`
    select task_id from remote_agent_tasks
    where tenant_id = ${db} and call_id = ${call} and session_key = ${session} and agent_id = ${agent}`;
  return row?.task_id;
}
