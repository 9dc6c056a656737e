/** Turns as lists of tasks, and what was spoken in one. */
import { sql } from 'kysely';
import { below, type PageEnd, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { SpokenMessage, TaskTurn } from './task.ts';

/** The last messages of turns, oldest first. `length`: how many of each turn. */
export function listSpoken(
  db: TenantDb,
  turns: readonly TaskTurn[],
  length: number,
): Promise<SpokenMessage[]> {
  const ids = turns.map(({ id }) => id);
  const sessions = [...new Set(turns.map(({ session_key: session }) => session))];
  return readRows<SpokenMessage>(db)`
    select id, turn_id, role, text from (
      select id, turn_id, role, text, position, row_number() over (partition by turn_id order by position desc) as place
      from messages where tenant_id = ${db} and session_key = any (${sessions}::text[]) and turn_id = any (${ids}::text[])
        and position is not null and text <> '') spoken
    where place <= ${length} order by position`;
}

export interface TaskFilter {
  readonly agent: string;
  /** The only user whose tasks are listed; null means all. */
  readonly user: string | null;
  readonly session?: string | undefined;
  readonly status?: string | undefined;
  readonly since?: Date | undefined;
}

export interface ListedTask extends TaskTurn {
  /** When its status changed, with all digits. */
  readonly changed_text: string;
}

/** Conversations that are looked through, so that a list costs the same however many there are. */
const MAX_SESSIONS = 1_000;

/** Those whose status changed last come first, of the conversations that were used last. */
export async function listTasks(
  db: TenantDb,
  { agent, user, session, status, since }: TaskFilter,
  limit: number,
  after: PageEnd | undefined,
): Promise<{ readonly rows: ListedTask[]; readonly total: number }> {
  // Work that one of the agents gives to another has its own sessions, and is part of a task.
  const tasks = sql`
    with recent as (select key from sessions s where tenant_id = ${db.tenant} and agent_key = ${agent} and bound_context is null
        and (${user}::text is null or user_id = ${user}) and (${session ?? null}::text is null or key = ${session ?? null})
        and not exists (select from assignments a where a.tenant_id = ${db.tenant} and a.session_key = s.key)
      order by updated_at desc, key limit ${MAX_SESSIONS}),
    tasks as (select t.*, coalesce(ended_at, started_at, t.created_at) as changed from recent
      join turns t on t.tenant_id = ${db.tenant} and t.session_key = recent.key
      where (${status ?? null}::text is null or status = ${status ?? null})
        and (${since ?? null}::timestamptz is null or coalesce(ended_at, started_at, t.created_at) >= ${since ?? null}))`;
  const [rows, counted] = await Promise.all([
    readRows<ListedTask>(db)`${tasks}
      select id, session_key, agent_key, context ->> 'user' as user, status, text, error, created_at, started_at, ended_at, changed::text as changed_text
      from tasks where tenant_id = ${db} ${below('changed', 'id', after)} order by changed desc, id limit ${limit}`,
    readRow<{ count: number }>(db)`${tasks} select count(*)::int as count from tasks where tenant_id = ${db}`,
  ]);
  return { rows, total: counted?.count ?? 0 };
}
