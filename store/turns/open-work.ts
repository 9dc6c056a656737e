/** Open work in the rows of all tenants that are not frozen: for the workers themselves, never for a caller. */
import type { Pool } from '../postgres/pool.ts';
import { readRows } from '../postgres/statements.ts';
import { IS_THAWED } from '../tenant-freeze.ts';

/** All tenants with open delegated work. */
export async function tenantsWithOpenWork(pool: Pool, olderThanSeconds: number): Promise<readonly string[]> {
  const rows = await readRows<{ tenant_id: string }>(pool)`
    select distinct tenant_id from assignments where ended_at is null and ${IS_THAWED}
      and created_at < now() - make_interval(secs => ${olderThanSeconds})`;
  return rows.map(({ tenant_id }) => tenant_id);
}

export interface OpenSession {
  readonly tenant_id: string;
  readonly session_key: string;
  readonly agent_key: string;
  /** Time of the oldest open turn. */
  readonly created_at: Date;
}

/** Sessions with waiting or running turns, in the order of their keys, after a given one. */
export function openSessions(
  pool: Pool,
  olderThanSeconds: number,
  after: OpenSession | undefined,
  limit: number,
): Promise<readonly OpenSession[]> {
  return readRows<OpenSession>(pool)`
    select tenant_id, session_key, min(agent_key) as agent_key, min(created_at) as created_at from turns
     where ended_at is null and ${IS_THAWED} and created_at < now() - make_interval(secs => ${olderThanSeconds})
       and (tenant_id, session_key) > (${after?.tenant_id ?? ''}, ${after?.session_key ?? ''})
     group by tenant_id, session_key order by tenant_id, session_key limit ${limit}`;
}

export interface OpenTask {
  readonly tenant_id: string;
  readonly team_key: string;
  readonly number: number;
  readonly created_at: Date;
  /** The turn that created it has ended, and its members have not been let start. */
  readonly is_unreleased: boolean;
}

/** Open tasks of teams, in the order of their keys, after a given one. */
export function openTasks(
  pool: Pool,
  olderThanSeconds: number,
  after: OpenTask | undefined,
  limit: number,
): Promise<readonly OpenTask[]> {
  return readRows<OpenTask>(pool)`select t.tenant_id, t.team_key, t.number, t.created_at,
       t.state -> 'released' = 'false' and exists (select from turns o where o.tenant_id = t.tenant_id
         and o.id = t.origin_turn and o.ended_at is not null) as is_unreleased
     from team_tasks t
     join teams m on m.tenant_id = t.tenant_id and m.key = t.team_key and m.deleted_at is null
     where t.status not in ('completed', 'failed', 'cancelled')
       and t.tenant_id not in (select id from tenants where frozen_at is not null)
       and t.created_at < now() - make_interval(secs => ${olderThanSeconds})
       and (t.tenant_id, t.team_key, t.number) > (${after?.tenant_id ?? ''}, ${after?.team_key ?? ''},
         ${after?.number ?? 0})
     order by t.tenant_id, t.team_key, t.number limit ${limit}`;
}
