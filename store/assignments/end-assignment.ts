/**
 * Ends assignments and announces the ends: each change is one commit under the lock of the session that gave the work.
 */
import { announcesTogether, type AssignmentEndStatus } from '#domain/assignment/assignment.ts';
import type { AssignmentKind } from '#domain/ids.ts';
import { ANNOUNCEMENT } from '#domain/ids.ts';
import { replacementOf, subagentContext } from '#domain/assignment/new-assignment.ts';
import type { SettledCall } from '#domain/turn/turn.ts';
import { type AssignmentRow, findAssignment, ROW } from './assignment-store.ts';
import { appendEvents, lockSession, settleCall } from '../turns/session-writes.ts';
import { callWithin } from '../postgres/sql-call.ts';
import { insertAssignment, openFor, originOf } from './take-assignment.ts';
import { affects, execute, readRow, readRows } from '../postgres/statements.ts';
import { type TenantDb, type TenantTx } from '../postgres/tenant-db.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface AssignmentEnd {
  readonly status: AssignmentEndStatus;
  readonly result: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
  readonly by: string | null;
  readonly silent: boolean;
  /** The result that the origin's turn reads when it waits. */
  readonly call: Omit<SettledCall, 'id'>;
  /** The assignment that takes over the slot. */
  readonly next?: { readonly id: string; readonly label: string; readonly task: string };
}

export interface EndedAssignment {
  readonly row: AssignmentRow;
  readonly next: AssignmentRow | undefined;
  /** Number of results to announce now. */
  readonly unannounced: number;
}

/**
 * Frees its slot and writes the outcome to the origin's feed and, when its turn waits, to the origin's call. A repeat
 * changes nothing and returns the same. Undefined when the row does not exist.
 */
export function endAssignment(
  db: TenantDb,
  id: string,
  end: AssignmentEnd,
): Promise<EndedAssignment | undefined> {
  return inTransaction(db, async (tx) => {
    const before = await lockOrigin(tx, id);
    if (!before) return undefined;
    const row = before.ended_at === null ? await recordEnd(tx, before, end) : before;
    const isAnnounced = row.announced_by !== null && !announcesTogether(row.kind);
    return {
      row,
      next: row.replaced_by === null ? undefined : await findAssignment(tx, row.replaced_by),
      unannounced: isAnnounced ? 0 : await countUnannounced(tx, row),
    };
  });
}

/** Reads it under a lock, so that nobody else changes what the session has delegated. */
async function lockOrigin(tx: TenantTx, id: string): Promise<AssignmentRow | undefined> {
  await execute(tx)`
    select from sessions s join assignments a on a.tenant_id = s.tenant_id and a.origin_session = s.key
     where a.tenant_id = ${tx} and a.id = ${id} for update of s`;
  return findAssignment(tx, id);
}

async function recordEnd(tx: TenantTx, before: AssignmentRow, end: AssignmentEnd): Promise<AssignmentRow> {
  const { next, status, result } = end;
  const ended = await readRow<{ row: AssignmentRow; rounds: number }>(tx)`
    update assignments a set status = ${status}, result = ${result}, error = ${end.error && JSON.stringify(end.error)},
      warnings = ${JSON.stringify(end.warnings)}, stopped_by = coalesce(${end.by}, stopped_by),
      replaced_by = ${next?.id}, ended_at = clock_timestamp(),
      iterations = x.steps, input_tokens = x.input, output_tokens = x.output,
      announced_by = case when ${next !== undefined || end.silent} then 'nobody'
        when mode = 'sync' then origin_call else announced_by end
    from (select coalesce(sum(t.steps), 0) as steps, coalesce(sum(t.input_tokens), 0) as input,
                 coalesce(sum(t.output_tokens), 0) as output
          from turns t where t.tenant_id = ${tx} and t.session_key = ${before.session_key}) x
    where a.tenant_id = ${tx} and a.id = ${before.id} returning ${ROW}, jsonb_array_length(a.rounds) as rounds`;
  const row = ended?.row ?? before;
  const origin = originOf(row);
  await appendEvents(tx, origin, [{ type: `${row.kind}.completed`, data: endedEvent(row, ended?.rounds) }]);
  if (next) {
    const made = replacementOf(row, next);
    await openFor(tx, made, next.task, subagentContext(row.context));
    await insertAssignment(tx, made);
  } else if (row.mode === 'sync') await settleCall(tx, origin, { ...end.call, id: row.origin_call });
  // Counts what its gates have reserved.
  await callWithin(tx, 'count_turn_holds', [row.id]);
  return row;
}

/** Characters of a result in the feed. */
const PREVIEW = 500;

function endedEvent(row: AssignmentRow, rounds: number | undefined): Readonly<Record<string, unknown>> {
  const shared = {
    [`${row.kind}_id`]: row.id,
    label: row.label,
    status: row.status,
    error: row.error ?? undefined,
    by: row.stopped_by ?? undefined,
  };
  if (row.kind === 'evaluation') return { ...shared, rounds };
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

/** Returns 0 while another one runs whose result is announced together with it. */
async function countUnannounced(
  tx: TenantTx,
  { kind, origin_session }: { readonly kind: AssignmentKind; readonly origin_session: string },
): Promise<number> {
  const row = await readRow<{ ended: number; running: number }>(tx)`
    select count(ended_at)::int as ended, count(*) filter (where ended_at is null and mode = 'async')::int as running
     from assignments where tenant_id = ${tx} and origin_session = ${origin_session} and kind = ${kind}
       and announced_by is null`;
  const { ended = 0, running = 0 } = row ?? {};
  return announcesTogether(kind) && running > 0 ? 0 : ended;
}

export interface Announcement {
  /** The session to notify. */
  readonly session: string;
  readonly rows: readonly AssignmentRow[];
  /** Results left for another message of the same announcer: too many for one, or for another place. */
  readonly more: number;
}

/**
 * Claims results for one message, which nobody has announced yet (SA-4, DE-2), that of `by` first. Exactly once:
 * claimed results stay `claim`'s, and a repeat returns the same. Undefined when there is nothing to announce. Results
 * for another place are left.
 */
export function claimAnnouncement(
  db: TenantDb,
  by: string,
  claim: string,
  max: number,
): Promise<Announcement | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await lockOrigin(tx, by);
    if (!row || row.ended_at === null) return undefined;
    const together = announcesTogether(row.kind);
    if (!(await isClaimed(tx, row, claim))) {
      if ((!together && row.announced_by !== null) || (await countUnannounced(tx, row)) === 0)
        return undefined;
      await execute(tx)`
        with left_over as (select id, context, ended_at from assignments
            where tenant_id = ${tx} and origin_session = ${row.origin_session} and kind = ${row.kind}
              and ended_at is not null and announced_by is null),
          first as (select id, context from left_over order by (id = ${by}) desc, ended_at limit 1)
        update assignments set announced_by = ${claim} where tenant_id = ${tx} and id in (
          select l.id from left_over l join first f on f.context = l.context
          order by (l.id = f.id) desc, l.ended_at limit ${max})`;
    }
    const rows = await readRows<{ row: AssignmentRow }>(tx)`
      select ${ROW} from assignments a where tenant_id = ${tx} and origin_session = ${row.origin_session}
        and kind = ${row.kind} and announced_by = ${claim} order by ended_at`;
    const more = together ? await countUnannounced(tx, row) : 0;
    return { session: row.origin_session, rows: rows.map((one) => one.row), more };
  });
}

async function isClaimed(tx: TenantTx, row: AssignmentRow, claim: string): Promise<boolean> {
  return affects(tx)`
    select from assignments where tenant_id = ${tx} and origin_session = ${row.origin_session}
      and announced_by = ${claim} limit 1`;
}

/** Whether work that a session has delegated runs, or has ended and is not answered by a turn of the session yet. */
export async function hasPendingResults(db: TenantDb, session: string): Promise<boolean> {
  const row = await readRow<{ pending: boolean }>(db)`
    select exists (select from assignments a where a.tenant_id = ${db} and a.origin_session = ${session}
      and a.mode = 'async' and (
         (a.announced_by is null and (a.ended_at is not null or not a.detached))
         -- Claimed for a message that is not written yet.
         or (a.announced_by ~ '^(sub|del)-' and not exists (
           select from messages m where m.tenant_id = ${db} and m.id = ${ANNOUNCEMENT} || a.announced_by))))
       or exists (select from messages m where m.tenant_id = ${db} and m.session_key = ${session}
         and m.role = 'user'
         and m.turn_id is null and starts_with(m.id, ${ANNOUNCEMENT})) as pending`;
  return row?.pending === true;
}

/**
 * What a session's waiter has to check: running subagents, those that it has waited for, and those that ended and are
 * not announced yet. The ends of running ones are signalled to the waiter from now on.
 */
export function collectSubagents(
  db: TenantDb,
  session: string,
  waiter: string,
): Promise<readonly AssignmentRow[]> {
  return inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    await execute(tx)`
      update assignments set waiter = ${waiter} where tenant_id = ${tx} and origin_session = ${session}
        and kind = 'subagent' and ended_at is null and waiter is distinct from ${waiter}`;
    const rows = await readRows<{ row: AssignmentRow }>(tx)`
      select ${ROW} from assignments a where tenant_id = ${tx} and origin_session = ${session}
        and kind = 'subagent' and replaced_by is null
        and (waiter = ${waiter} or (ended_at is not null and announced_by is null)) order by created_at`;
    return rows.map(({ row }) => row);
  });
}

/**
 * The result of the call contains these ends: they are marked with it, so that no message repeats them. Safe to repeat.
 */
export async function announceByCall(
  db: TenantDb,
  { session, turn }: { readonly session: string; readonly turn: string },
  call: SettledCall,
  ids: readonly string[],
): Promise<void> {
  await inTransaction(db, async (tx) => {
    await lockSession(tx, session);
    await settleCall(tx, { session, turn }, call);
    await execute(tx)`
      update assignments set announced_by = ${call.id} where tenant_id = ${tx} and origin_session = ${session}
        and announced_by is null and ended_at is not null and id = any(${ids})`;
  });
}
