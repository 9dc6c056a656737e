/** Activities of an assignment's workflow: the record of its end, and the message that announces it (SA-4, DE-2). */
import {
  ANNOUNCE,
  type AssignmentActivities,
  type AssignmentKey,
  type FinishAssignmentInput,
  type FinishedAssignment,
} from '#domain/assignment/assignment.ts';
import type { AssignmentEnds } from '#domain/feature.ts';
import { cutText } from '#domain/text/cut-text.ts';
import { delegationResults } from '#domain/assignment/delegation-words.ts';
import { announcementIdOf } from '#domain/ids.ts';
import type { CollectSubagentsInput } from '#domain/assignment/subagent.ts';
import { announcementText, isActive, taskBlocks } from '#domain/assignment/subagent-words.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { findAssignment, findWorkEnd, pageAssignments } from '#store/assignments/assignment-store.ts';
import {
  type Announcement,
  announceByCall,
  claimAnnouncement,
  collectSubagents,
  endAssignment,
} from '#store/assignments/end-assignment.ts';
import { gateRows } from '#store/teams/gate-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { assignmentInput } from '#temporal/assignment-inputs.ts';
import { activityFailure, failingAs, recordFailure } from '../activity-failure.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { SendSystemMessage } from '../turn/send-system-message.ts';
import { endOfWork } from './assignment-end.ts';
import { claimLinkedTask, closeLinkedTask } from './linked-task.ts';

export interface AssignmentRunDeps extends ActivityDeps {
  readonly wake: SendSystemMessage;
  readonly reach: Pick<WorkflowReach, 'updateWithStart' | 'signalWithStart'>;
  /** Limits for subagents. */
  readonly limits: { readonly children: number; readonly archiveMinutes: number };
  readonly assignmentEnds: AssignmentEnds;
  /** Ends what still runs in a session, and all that it has started. */
  readonly stopSession: (tenant: string, session: string, by: string) => Promise<void>;
}

export function createAssignmentActivities(deps: AssignmentRunDeps): AssignmentActivities {
  return {
    finish_assignment: failingAs(recordFailure, (input) => finish(deps, input)),
    announce_assignment: failingAs(activityFailure, (key) => announceAssignment(deps, key)),
    claim_linked_task: failingAs(activityFailure, (key) => claimLinkedTask(deps, key)),
    close_linked_task: failingAs(activityFailure, (key) => closeLinkedTask(deps, key)),
    collect_subagents: failingAs(recordFailure, (input) => collect(deps, input)),
  };
}

async function finish(deps: AssignmentRunDeps, input: FinishAssignmentInput): Promise<FinishedAssignment> {
  const { tenant, id } = input;
  const db = forTenant(deps.pool, tenant);
  const row = await findAssignment(db, id);
  // Its tenant was deleted meanwhile: there is nobody to notify.
  if (!row) return { status: input.status, ok: false, unannounced: 0 };
  const { kind, session_key } = row;
  const hide = (await deps.scrubberOf(tenant)).text;
  const hidden = { ...input, ...(input.reason !== undefined && { reason: hide(input.reason) }) };
  // This comes before the record, so that readers of the end find its parts ended or ending.
  const endOf = deps.assignmentEnds[kind];
  if (!endOf && input.status !== 'completed')
    await deps.stopSession(tenant, session_key, input.by ?? 'system');
  const end = endOf
    ? await endOf(hidden, row)
    : endOfWork(
        hidden,
        row,
        await findWorkEnd(db, session_key),
        row.gates.length > 0 ? await gateRows(db, id) : [],
      );
  const ended = await endAssignment(db, id, end);
  if (!ended) return { status: input.status, ok: false, unannounced: 0 };
  deps.onWrite(tenant, row.origin_session);
  const { status, waiter, mode } = ended.row;
  return {
    status: status as FinishedAssignment['status'],
    ok: status === 'completed' || status === 'approved' || status === 'not_approved',
    unannounced: ended.unannounced,
    waiter: ended.next ? undefined : (waiter ?? undefined),
    next: ended.next && { input: assignmentInput(tenant, ended.next, hide), waits: mode === 'sync' },
  };
}

/**
 * Exactly once: the rows are claimed first, and each message's id derives from its claim. There is one message for all
 * results, unless there are too many.
 */
export async function announceAssignment(
  deps: Pick<AssignmentRunDeps, 'pool' | 'wake' | 'limits'>,
  key: AssignmentKey,
): Promise<void> {
  for (let part = 0; ; part += 1) {
    const claim = part === 0 ? key.id : `${key.id}.${part}`;
    const claimed = await claimAnnouncement(forTenant(deps.pool, key.tenant), key.id, claim, ANNOUNCE.max);
    const [first] = claimed?.rows ?? [];
    if (!claimed || !first) return;
    await deps.wake({
      tenant: key.tenant,
      session: claimed.session,
      messageId: announcementIdOf(claim),
      text:
        first.kind === 'subagent'
          ? await subagentsText(deps, key.tenant, claimed)
          : delegationResults(claimed.rows),
      mode: claimed.rows.some(({ announce }) => announce === 'steer') ? 'steer' : 'queue',
      context: first.context,
      from: { session: claimed.session, turn: first.origin_turn },
    });
    if (claimed.more === 0) return;
  }
}

async function subagentsText(
  { pool, limits }: Pick<AssignmentRunDeps, 'pool' | 'limits'>,
  tenant: string,
  { session, rows }: Announcement,
): Promise<string> {
  const filter = { kind: 'subagent', session, withinMinutes: limits.archiveMinutes } as const;
  return announcementText(rows, await pageAssignments(forTenant(pool, tenant), filter, 200), limits.children);
}

async function collect(deps: AssignmentRunDeps, input: CollectSubagentsInput): Promise<number> {
  const { tenant, session, waiter } = input;
  const db = forTenant(deps.pool, tenant);
  const rows = await collectSubagents(db, session, waiter);
  const running = rows.filter(isActive);
  if (running.length > 0 && !input.last) return running.length;
  const ended = rows.filter((row) => !isActive(row));
  const blocks = ended.length > 0 ? taskBlocks(ended) : '';
  const waited = `timeout after ${input.seconds}s waiting for children`;
  const whole =
    running.length === 0
      ? `All ${ended.length} subagent task(s) have ended:\n\n${blocks}`
      : `Timeout: ${waited}. ${running.length} still running: ${running.map(({ id }) => id).join(', ')}.\n\n${blocks}`;
  const { text } = cutText(whole.trim(), MODEL_RESULT_BYTES, `/v1/sessions/${session}/subagents`);
  const result = running.length === 0 ? { ok: true, text } : { ok: false, code: 'Timeout', text };
  await announceByCall(
    db,
    { session, turn: input.turn },
    { id: input.call, ...result },
    ended.map(({ id }) => id),
  );
  deps.onWrite(tenant, session);
  return 0;
}
