/** Assignments' rows: reading them, and the small changes. What takes a place is in take-assignment.ts, what ends one in end-assignment.ts. */
import type { AssignmentKind, AssignmentStatus } from '#domain/assignment.ts';
import type { NewAssignment } from '#domain/new-assignment.ts';
import type { Db, Pool } from './pool.ts';

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

export interface RoundRow {
  readonly round: number;
  readonly draft: string;
  readonly verdict: 'approved' | 'rejected' | null;
  readonly feedback: string | null;
}

/** Of an `assignments a`; its rounds may be large, and are asked for by themselves. */
export const ROW = `to_jsonb(a) - 'rounds' as row`;

export async function findAssignment(db: Db, tenant: string, id: string): Promise<AssignmentRow | undefined> {
  const { rows } = await db.query<{ row: AssignmentRow }>(
    `select ${ROW} from assignments a where tenant_id = $1 and id = $2`,
    [tenant, id],
  );
  return rows[0]?.row;
}

export interface AssignmentFilter {
  readonly kind: AssignmentKind;
  readonly source?: string | undefined;
  readonly target?: string | undefined;
  readonly session?: string | undefined;
  readonly status?: AssignmentStatus | undefined;
  readonly user?: string | null | undefined;
  /** Leaves out those that ended longer ago. */
  readonly withinMinutes?: number;
}

/** Newest first; `after` is the last row of the page before. */
export async function pageAssignments(
  db: Db,
  tenant: string,
  filter: AssignmentFilter,
  limit: number,
  after?: readonly [created: string, id: string],
): Promise<readonly AssignmentRow[]> {
  const values: unknown[] = [tenant, filter.kind, limit];
  const where = ['tenant_id = $1', 'kind = $2'];
  const add = (condition: string, value: unknown): void => {
    if (value !== undefined && value !== null)
      where.push(condition.replaceAll('?', `$${values.push(value)}`));
  };
  add('source_key = ?', filter.source);
  add('target_key = ?', filter.target);
  add('origin_session = ?', filter.session);
  add('status = ?', filter.status);
  add('user_id = ?', filter.user);
  add('(ended_at is null or ended_at > now() - make_interval(secs => ?::float * 60))', filter.withinMinutes);
  if (after) {
    const [time, id] = after.map((value) => `$${values.push(value)}`);
    where.push(`(created_at < ${time}::timestamptz or (created_at = ${time}::timestamptz and id > ${id}))`);
  }
  const { rows } = await db.query<{ row: AssignmentRow }>(
    `select ${ROW} from assignments a where ${where.join(' and ')} order by created_at desc, id limit $3`,
    values,
  );
  return rows.map(({ row }) => row);
}

/** Those that hold a place, at most 1000, oldest first: of the tenant, or those that a session gave. */
export async function openAssignments(
  db: Db,
  tenant: string,
  { kind, session }: { readonly kind?: AssignmentKind; readonly session?: string } = {},
): Promise<readonly AssignmentRow[]> {
  const { rows } = await db.query<{ row: AssignmentRow }>(
    `select ${ROW} from assignments a where tenant_id = $1 and ended_at is null
       and ($2::text is null or kind = $2) and ($3::text is null or origin_session = $3)
     order by created_at limit 1000`,
    [tenant, kind ?? null, session ?? null],
  );
  return rows.map(({ row }) => row);
}

/**
 * Says who ends it, before its workflow is told: one that has not begun will not. `silent`: who gave it knows. False when it
 * has ended. Safe to repeat.
 */
export async function markStopped(
  db: Db,
  tenant: string,
  id: string,
  by: string,
  silent: boolean,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `update assignments set stopped_by = coalesce(stopped_by, $3),
       announced_by = case when $4 then 'nobody' else announced_by end
     where tenant_id = $1 and id = $2 and ended_at is null`,
    [tenant, id, by, silent],
  );
  return rowCount === 1;
}

/**
 * Sessions of all that it has started or given away, and of theirs, the newest 1000: subagents, delegations, agents at gates
 * and rounds of judging. Those that are over too, but none that is detached.
 */
export async function sessionsBelow(db: Db, tenant: string, session: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ session_key: string }>(
    `with recursive below (session_key, created_at) as (
       select $2::text, now()
       union select s.session_key, s.created_at from below b cross join lateral (
         select session_key, created_at from assignments
           where tenant_id = $1 and origin_session = b.session_key and kind = 'subagent' and not detached
         union all select key, created_at from sessions
           where tenant_id = $1 and bound_context #>> '{delegation,session}' = b.session_key) s)
     select session_key from below where session_key <> $2 order by created_at desc limit 1000`,
    [tenant, session],
  );
  return rows.map(({ session_key }) => session_key);
}

/** How the last of a session's turns that gave an answer, or else the last one, ended. */
export interface WorkEnd {
  readonly status: string;
  /** Model calls over all turns of the session. */
  readonly iterations: number;
  readonly text: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export async function findWorkEnd(db: Db, tenant: string, session: string): Promise<WorkEnd | undefined> {
  const { rows } = await db.query<WorkEnd>(
    `select status, text, error, (select sum(o.steps)::int from turns o
         where o.tenant_id = $1 and o.session_key = $2) as iterations
     from turns where tenant_id = $1 and session_key = $2 and ended_at is not null
     order by (status = 'completed') desc, ended_at desc limit 1`,
    [tenant, session],
  );
  return rows[0];
}

export async function findRounds(db: Db, tenant: string, id: string): Promise<readonly RoundRow[]> {
  const { rows } = await db.query<{ rounds: readonly RoundRow[] }>(
    'select rounds from assignments where tenant_id = $1 and id = $2',
    [tenant, id],
  );
  return rows[0]?.rounds ?? [];
}

/** What is known of a round; the first draft stays, and the first verdict. Safe to repeat. */
export async function recordRound(pool: Pool, tenant: string, id: string, round: RoundRow): Promise<void> {
  await pool.query(
    `update assignments set rounds = case when jsonb_array_length(rounds) < $3 then rounds || jsonb_build_array($4::jsonb)
         when rounds #>> array[($3 - 1)::text, 'verdict'] is null then jsonb_set(rounds, array[($3 - 1)::text],
           $4::jsonb || jsonb_build_object('draft', rounds #> array[($3 - 1)::text, 'draft']))
         else rounds end
     where tenant_id = $1 and id = $2`,
    [tenant, id, round.round, JSON.stringify(round)],
  );
}
