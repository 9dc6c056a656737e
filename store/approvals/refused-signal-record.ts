/** Refused signals to a task, as its row and its team's audit log report them. */
import type { RefusedRequest } from '#domain/approval/approval.ts';
import type { RefusedSignals } from '#domain/approval/refused-signals.ts';
import type { TenantDb } from '../postgres/tenant-db.ts';
import { ofTask, type TaskKey } from '../teams/recorded-task.ts';
import { lockTask } from '../teams/team-task-record.ts';
import { inTransaction } from '../postgres/transaction.ts';

/** How many refused signals the audit log reports: anyone who can reach Temporal can send any number of them. */
const MAX_REFUSAL_EVENTS = 20;

/**
 * Records a signal that changed nothing, once for its key. `before` is the number of signals that were refused before, if
 * the row may not know of all. Undefined when the task does not exist.
 */
export function noteRefusedSignal(
  db: TenantDb,
  key: TaskKey,
  {
    key: name,
    before: known = 0,
    ...refusal
  }: Omit<RefusedRequest, 'at'> & { readonly key: string; readonly before?: number | undefined },
): Promise<RefusedSignals | undefined> {
  return inTransaction(db, async (tx) => {
    const row = await lockTask(tx, key);
    if (!row) return undefined;
    const before = row.last_refused as (RefusedRequest & { readonly key: string }) | null;
    if (before?.key === name) return { refused: row.refused, last_refused: before };
    const [refused, last_refused] = [
      Math.max(row.refused, known) + 1,
      { ...refusal, at: new Date().toISOString() },
    ];
    await tx
      .updateTable('team_tasks')
      .set({ refused, last_refused: JSON.stringify({ ...last_refused, key: name }) })
      .where((is) => is.and(ofTask(tx, key)))
      .execute();
    if (refused > MAX_REFUSAL_EVENTS) return { refused, last_refused };
    const { revision, status, owner } = row.state;
    const [actor, reason] = [refusal.by, `${refusal.what}: ${refusal.problem}`];
    const event = { revision, refusal: refused, action: 'refused', actor, reason, status, owner };
    await tx
      .insertInto('team_task_events')
      .values({ ...ofTask(tx, key), ...event })
      .execute();
    return { refused, last_refused };
  });
}
