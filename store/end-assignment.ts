/** Ends of assignments, and who announces them: each change is one commit under the lock of the session that gave the work. */
import {
  announcesTogether,
  type AssignmentEndStatus,
  type AssignmentKey,
  type AssignmentKind,
} from '#domain/assignment.ts';
import { ANNOUNCEMENT } from '#domain/ids.ts';
import { replacementOf, subagentContext } from '#domain/new-assignment.ts';
import type { SettledCall } from '#domain/turn.ts';
import { type AssignmentRow, findAssignment, findRounds, ROW } from './assignment-store.ts';
import { type Db, inTransaction, type Pool } from './pool.ts';
import { appendEvent, insertAssignment, insertSession } from './take-assignment.ts';

export interface AssignmentEnd {
  readonly status: AssignmentEndStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
  readonly by: string | null;
  readonly silent: boolean;
  /** What the origin's turn reads when it waits for it. */
  readonly call: Omit<SettledCall, 'id'>;
  /** Takes over the place. */
  readonly next?: { readonly id: string; readonly label: string; readonly task: string };
}

export interface EndedAssignment {
  readonly row: AssignmentRow;
  readonly next: AssignmentRow | undefined;
  /** Results to be announced now. */
  readonly unannounced: number;
}

/**
 * Its place is free, and the origin's feed and, when its turn waits, the origin's call have the outcome. A repeat changes
 * nothing and answers the same. Undefined when there is no such row.
 */
export function endAssignment(
  pool: Pool,
  { tenant, id }: AssignmentKey,
  end: AssignmentEnd,
): Promise<EndedAssignment | undefined> {
  return inTransaction(pool, async (db) => {
    const before = await lockOrigin(db, tenant, id);
    if (!before) return undefined;
    const row = before.ended_at === null ? await recordEnd(db, tenant, before, end) : before;
    const isSaid = row.announced_by !== null && !announcesTogether(row.kind);
    return {
      row,
      next: row.replaced_by === null ? undefined : await findAssignment(db, tenant, row.replaced_by),
      unannounced: isSaid ? 0 : await countUnannounced(db, tenant, row),
    };
  });
}

/** As it is once nobody else changes what the session has given away. */
async function lockOrigin(db: Db, tenant: string, id: string): Promise<AssignmentRow | undefined> {
  await db.query(
    `select from sessions s join assignments a on a.tenant_id = s.tenant_id and a.origin_session = s.key
     where a.tenant_id = $1 and a.id = $2 for update of s`,
    [tenant, id],
  );
  return findAssignment(db, tenant, id);
}

async function recordEnd(
  db: Db,
  tenant: string,
  before: AssignmentRow,
  end: AssignmentEnd,
): Promise<AssignmentRow> {
  const { next } = end;
  const isSilent = next !== undefined || end.silent;
  const { rows } = await db.query<{ row: AssignmentRow }>(
    `update assignments a set status = $3, result = $4, error = $5, warnings = $6, stopped_by = coalesce($7, stopped_by),
       replaced_by = $8, ended_at = clock_timestamp(), iterations = x.steps, input_tokens = x.input, output_tokens = x.output,
       announced_by = case when $9 then 'nobody' when mode = 'sync' then origin_call else announced_by end
     from (select coalesce(sum(t.steps), 0) as steps, coalesce(sum(t.input_tokens), 0) as input,
                  coalesce(sum(t.output_tokens), 0) as output
           from turns t where t.tenant_id = $1 and t.session_key = $10) x
     where a.tenant_id = $1 and a.id = $2 returning ${ROW}`,
    [
      tenant,
      before.id,
      end.status,
      end.result,
      end.error && JSON.stringify(end.error),
      JSON.stringify(end.warnings),
      end.by,
      next?.id ?? null,
      isSilent,
      before.session_key,
    ],
  );
  const row = rows[0]?.row ?? before;
  const used = row.kind === 'evaluation' ? { rounds: (await findRounds(db, tenant, row.id)).length } : {};
  await appendEvent(db, tenant, row, `${row.kind}.completed`, endedEvent(row, used));
  if (next) {
    const made = replacementOf(row, next);
    await insertSession(db, tenant, made, next.task, subagentContext(row.context));
    await insertAssignment(db, tenant, made);
  } else if (row.mode === 'sync') await settleCall(db, tenant, row, { ...end.call, id: row.origin_call });
  // Of its gates.
  await db.query('select count_turn_holds($1, $2)', [tenant, row.id]);
  return row;
}

/** Characters of a result that the feed shows. */
const PREVIEW = 500;

function endedEvent(
  row: AssignmentRow,
  used: { readonly rounds?: number },
): Readonly<Record<string, unknown>> {
  const shared = {
    [`${row.kind}_id`]: row.id,
    label: row.label,
    status: row.status,
    error: row.error ?? undefined,
    by: row.stopped_by ?? undefined,
  };
  if (row.kind === 'evaluation') return { ...shared, ...used };
  return {
    ...shared,
    target: row.kind === 'delegation' ? row.target_key : undefined,
    session_key: row.session_key,
    preview: (row.result ?? '').slice(0, PREVIEW).toWellFormed(),
    warnings: row.warnings.length > 0 ? row.warnings : undefined,
    iterations: row.iterations,
    replaced_by: row.replaced_by ?? undefined,
  };
}

async function settleCall(
  db: Db,
  tenant: string,
  { origin_session, origin_turn }: Pick<AssignmentRow, 'origin_session' | 'origin_turn'>,
  call: SettledCall,
): Promise<void> {
  await db.query('select settle_calls($1, $2, $3, $4)', [
    tenant,
    origin_session,
    origin_turn,
    JSON.stringify([call]),
  ]);
}

/** None while another one runs whose result is announced together with it. */
async function countUnannounced(
  db: Db,
  tenant: string,
  { kind, origin_session }: { readonly kind: AssignmentKind; readonly origin_session: string },
): Promise<number> {
  const { rows } = await db.query<{ ended: number; running: number }>(
    `select count(ended_at)::int as ended, count(*) filter (where ended_at is null and mode = 'async')::int as running
     from assignments where tenant_id = $1 and origin_session = $2 and kind = $3 and announced_by is null`,
    [tenant, origin_session, kind],
  );
  const { ended = 0, running = 0 } = rows[0] ?? {};
  return announcesTogether(kind) && running > 0 ? 0 : ended;
}

export interface Announcement {
  /** To be told. */
  readonly session: string;
  readonly rows: readonly AssignmentRow[];
  /** Results that are left for another message of the same announcer: too many for one, or such as go back to another place. */
  readonly more: number;
}

/**
 * Takes results that nobody has announced yet for one message (SA-4, DE-2), that of `by` first; exactly once: what is taken
 * stays `claim`'s, and a repeat gets the same. Undefined when there is nothing to say. Results that go back to another place
 * are left.
 */
export function claimAnnouncement(
  pool: Pool,
  { tenant, id: by }: AssignmentKey,
  claim: string,
  most: number,
): Promise<Announcement | undefined> {
  return inTransaction(pool, async (db) => {
    const row = await lockOrigin(db, tenant, by);
    if (!row || row.ended_at === null) return undefined;
    const together = announcesTogether(row.kind);
    if (!(await isClaimed(db, tenant, row, claim))) {
      if ((!together && row.announced_by !== null) || (await countUnannounced(db, tenant, row)) === 0)
        return undefined;
      await db.query(
        `with left_over as (select id, context, ended_at from assignments where tenant_id = $1 and origin_session = $2
             and kind = $3 and ended_at is not null and announced_by is null),
           first as (select id, context from left_over order by (id = $4) desc, ended_at limit 1)
         update assignments set announced_by = $5 where tenant_id = $1 and id in (
           select l.id from left_over l join first f on f.context = l.context
           order by (l.id = f.id) desc, l.ended_at limit $6)`,
        [tenant, row.origin_session, row.kind, by, claim, most],
      );
    }
    const { rows } = await db.query<{ row: AssignmentRow }>(
      `select ${ROW} from assignments a where tenant_id = $1 and origin_session = $2 and kind = $3 and announced_by = $4
       order by ended_at`,
      [tenant, row.origin_session, row.kind, claim],
    );
    const more = together ? await countUnannounced(db, tenant, row) : 0;
    return { session: row.origin_session, rows: rows.map((one) => one.row), more };
  });
}

async function isClaimed(db: Db, tenant: string, row: AssignmentRow, claim: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from assignments where tenant_id = $1 and origin_session = $2 and announced_by = $3 limit 1',
    [tenant, row.origin_session, claim],
  );
  return rowCount === 1;
}

/** Whether what a session has given away runs, or has ended and a turn of the session has yet to answer what it brought. */
export async function hasPendingResults(db: Db, tenant: string, session: string): Promise<boolean> {
  const { rows } = await db.query<{ pending: boolean }>(
    `select exists (select from assignments a where a.tenant_id = $1 and a.origin_session = $2 and a.mode = 'async' and (
         (a.announced_by is null and (a.ended_at is not null or not a.detached))
         -- Claimed for a message that is not written yet.
         or (a.announced_by ~ '^(sub|del)-' and not exists (
           select from messages m where m.tenant_id = $1 and m.id = $3 || a.announced_by))))
       or exists (select from messages m where m.tenant_id = $1 and m.session_key = $2 and m.role = 'user'
         and m.turn_id is null and starts_with(m.id, $3)) as pending`,
    [tenant, session, ANNOUNCEMENT],
  );
  return rows[0]?.pending === true;
}

/**
 * What a session's waiter has to look at: subagents that run (their ends are signalled to the waiter from now on), those it
 * has waited for, and those that ended and are not announced yet.
 */
export function collectSubagents(
  pool: Pool,
  tenant: string,
  session: string,
  waiter: string,
): Promise<readonly AssignmentRow[]> {
  return inTransaction(pool, async (db) => {
    await db.query('select from sessions where tenant_id = $1 and key = $2 for update', [tenant, session]);
    await db.query(
      `update assignments set waiter = $3 where tenant_id = $1 and origin_session = $2 and kind = 'subagent'
         and ended_at is null and waiter is distinct from $3`,
      [tenant, session, waiter],
    );
    const { rows } = await db.query<{ row: AssignmentRow }>(
      `select ${ROW} from assignments a where tenant_id = $1 and origin_session = $2 and kind = 'subagent' and replaced_by is null
         and (waiter = $3 or (ended_at is not null and announced_by is null)) order by created_at`,
      [tenant, session, waiter],
    );
    return rows.map(({ row }) => row);
  });
}

/** The result of the call tells of these: recorded with it, so that no message repeats it. Safe to repeat. */
export async function announceByCall(
  pool: Pool,
  { tenant, session, turn }: { readonly tenant: string; readonly session: string; readonly turn: string },
  call: SettledCall,
  ids: readonly string[],
): Promise<void> {
  await inTransaction(pool, async (db) => {
    await db.query('select from sessions where tenant_id = $1 and key = $2 for update', [tenant, session]);
    await settleCall(db, tenant, { origin_session: session, origin_turn: turn }, call);
    await db.query(
      `update assignments set announced_by = $3 where tenant_id = $1 and origin_session = $2 and announced_by is null
         and ended_at is not null and id = any($4)`,
      [tenant, session, call.id, ids],
    );
  });
}
