/** Rows of assignments: reads and small changes. take-assignment.ts creates them, end-assignment.ts ends them. */
import { sql } from 'kysely';
import type { AssignmentStatus } from '#domain/assignment/assignment.ts';
import type { AssignmentKind } from '#domain/ids.ts';
import type { LinkedTask, NewAssignment } from '#domain/assignment/new-assignment.ts';
import type { Db } from '../postgres/database.ts';
import { affects, readRow, readRows, below, type PageEnd } from '../postgres/statements.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';

export interface AssignmentRow extends NewAssignment {
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
  readonly iterations: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly stopped_by: string | null;
  readonly replaced_by: string | null;
  readonly waiter: string | null;
  readonly announced_by: string | null;
  /** ISO 8601, as Postgres writes it in JSON. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** Columns of `assignments a`. Its rounds may be large, so they are read separately. */
export const ROW = sql`to_jsonb(a) - 'rounds' as row`;

export async function findAssignment(db: TenantDb<Db>, id: string): Promise<AssignmentRow | undefined> {
  const row = await readRow<{ row: AssignmentRow }>(db)`
    select ${ROW} from assignments a where tenant_id = ${db} and id = ${id}`;
  return row?.row;
}

export interface AssignmentFilter {
  readonly kind: AssignmentKind;
  readonly source?: string | undefined;
  readonly target?: string | undefined;
  readonly session?: string | undefined;
  readonly status?: AssignmentStatus | undefined;
  readonly user?: string | null | undefined;
  /** Leaves out assignments that ended longer ago. */
  readonly withinMinutes?: number;
}

/** Newest first; `after` is the last row of the previous page. */
export async function pageAssignments(
  db: TenantDb<Db>,
  filter: AssignmentFilter,
  limit: number,
  after?: PageEnd,
): Promise<readonly AssignmentRow[]> {
  const { kind, source, target, session, status, user, withinMinutes } = filter;
  const rows = await readRows<{ row: AssignmentRow }>(db)`
    select ${ROW} from assignments a where tenant_id = ${db} and kind = ${kind}
      and (${source}::text is null or source_key = ${source}) and (${target}::text is null or target_key = ${target})
      and (${session}::text is null or origin_session = ${session}) and (${status}::text is null or status = ${status})
      and (${user}::text is null or user_id = ${user})
      and (${withinMinutes}::float is null or ended_at is null
        or ended_at > now() - make_interval(secs => ${withinMinutes}::float * 60))
      ${below('created_at', 'id', after)}
    order by created_at desc, id limit ${limit}`;
  return rows.map(({ row }) => row);
}

/** Open assignments, at most 1000, oldest first: of the tenant, or those that a session gave. */
export async function openAssignments(
  db: TenantDb<Db>,
  { kind, session }: { readonly kind?: AssignmentKind; readonly session?: string } = {},
): Promise<readonly AssignmentRow[]> {
  const rows = await readRows<{ row: AssignmentRow }>(db)`
    select ${ROW} from assignments a where tenant_id = ${db} and ended_at is null
       and (${kind}::text is null or kind = ${kind}) and (${session}::text is null or origin_session = ${session})
     order by created_at limit 1000`;
  return rows.map(({ row }) => row);
}

/** Safe to repeat. */
export function linkTask(db: TenantDb<Db>, id: string, task: LinkedTask): Promise<boolean> {
  return affects(db)`update assignments set linked_task = ${JSON.stringify(task)}
    where tenant_id = ${db} and id = ${id} and ended_at is null`;
}

/**
 * Records who stops it, before its workflow is signalled: one that has not started will not start. `silent`: the giver
 * already knows. False when it has ended. Safe to repeat.
 */
export function markStopped(db: TenantDb<Db>, id: string, by: string, silent: boolean): Promise<boolean> {
  return affects(db)`update assignments set stopped_by = coalesce(stopped_by, ${by}),
       announced_by = case when ${silent} then 'nobody' else announced_by end
     where tenant_id = ${db} and id = ${id} and ended_at is null`;
}

/**
 * Sessions of everything that it has started or delegated, and of theirs, the newest 1000: subagents, delegations,
 * agents at gates and rounds of judging. It includes ended ones, but no detached ones.
 */
export async function sessionsBelow(db: TenantDb<Db>, session: string): Promise<readonly string[]> {
  const rows = await readRows<{ session_key: string }>(db)`with recursive below (session_key, created_at) as (
       select ${session}::text, now()
       union select s.session_key, s.created_at from below b cross join lateral (
         select session_key, created_at from assignments
           where tenant_id = ${db} and origin_session = b.session_key and kind = 'subagent' and not detached
         union all select key, created_at from sessions
           where tenant_id = ${db} and bound_context #>> '{delegation,session}' = b.session_key) s)
     select session_key from below where session_key <> ${session} order by created_at desc limit 1000`;
  return rows.map(({ session_key }) => session_key);
}

/** How the work ended: the last of the session's turns that gave an answer, otherwise the last one. */
export interface WorkEnd {
  readonly status: string;
  /** Model calls in all turns of the session. */
  readonly iterations: number;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export function findWorkEnd(db: TenantDb<Db>, session: string): Promise<WorkEnd | undefined> {
  return readRow<WorkEnd>(db)`select status, text, error, (select sum(o.steps)::int from turns o
         where o.tenant_id = ${db} and o.session_key = ${session}) as iterations
     from turns where tenant_id = ${db} and session_key = ${session} and ended_at is not null
     order by (status = 'completed') desc, ended_at desc limit 1`;
}
