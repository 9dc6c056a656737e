/** What a subagent's workflow asks of the world: its row's begin and end, and the message that tells its parent (SA-4). */
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import {
  ANNOUNCE,
  type CollectSubagentsInput,
  type FinishedSubagent,
  type FinishSubagentInput,
  STEER_TEXT,
  SUBAGENT,
  type SubagentActivities,
  type TellSessionEndInput,
} from '#domain/subagent.ts';
import { LOST_END } from '#domain/lost-work.ts';
import { Failure } from '#domain/errors.ts';
import { announcementIdOf, subagentWorkflowId } from '#domain/ids.ts';
import { announcementText, isActive, syncResultText, taskBlocks } from '#domain/subagent-words.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { activityFailure, failingAs, recordFailure } from '../activity-failure.ts';
import { cutText } from '#domain/cut-text.ts';
import type { SubagentEnd, SubagentRow, SubagentStore, TurnEnd } from '#store/subagent-store.ts';
import { subagentInput } from '#temporal/assignment-inputs.ts';
import type { WakeSession } from '../turn/wake-session.ts';

export interface SubagentRunDeps {
  readonly subagents: SubagentStore;
  readonly wake: WakeSession;
  readonly limits: { readonly children: number; readonly archiveMinutes: number };
  /** Ends what still runs in a subagent's session, and the subagents of its own. */
  readonly stopSession: (tenant: string, session: string, by: string) => Promise<void>;
  readonly reach: Pick<WorkflowReach, 'signal'>;
}

export type AnnounceDeps = Omit<SubagentRunDeps, 'stopSession' | 'reach'>;

export function createSubagentActivities(deps: SubagentRunDeps): SubagentActivities {
  return {
    begin_subagent: failingAs(recordFailure, ({ tenant, subagent_id }) =>
      deps.subagents.begin(tenant, subagent_id),
    ),
    finish_subagent: failingAs(recordFailure, (input) => finish(deps, input)),
    tell_session_end: failingAs(recordFailure, (input) => tellSessionEnd(deps, input)),
    announce_subagents: failingAs(activityFailure, ({ tenant, subagent_id }) =>
      announce(deps, tenant, subagent_id),
    ),
    collect_subagents: failingAs(recordFailure, (input) => collect(deps, input)),
  };
}

async function finish(deps: SubagentRunDeps, input: FinishSubagentInput): Promise<FinishedSubagent> {
  const { tenant, subagent_id: id } = input;
  const row = await deps.subagents.find(tenant, id);
  const turn = await deps.subagents.outcome(tenant, id);
  // Before the record, so that who reads the end may rely on theirs being near.
  if (row && input.status !== 'completed')
    await deps.stopSession(tenant, row.session_key, input.by ?? 'system');
  const finished = row && (await deps.subagents.finish(tenant, id, endOf(input, row, turn)));
  // Its tenant was deleted under it: nobody is left to be told.
  if (!finished) return { status: input.status, ok: false, untold: 0, waiters: [] };
  const { status, waiter, mode, context } = finished.row;
  if (finished.pending) return { status: input.status, ok: false, untold: 0, waiters: [], pending: true };
  return {
    status: status as FinishedSubagent['status'],
    ok: status === 'completed',
    untold: finished.untold,
    waiters: waiter === null || finished.next ? [] : [waiter],
    parent: context.subagent?.id,
    next: finished.next ? { input: subagentInput(tenant, finished.next), wait: mode === 'sync' } : undefined,
  };
}

async function tellSessionEnd(
  { subagents, reach }: Pick<SubagentRunDeps, 'subagents' | 'reach'>,
  { tenant, subagent_id: id, ...end }: TellSessionEndInput,
): Promise<void> {
  if (await reach.signal(subagentWorkflowId(id), SUBAGENT.signals.sessionEnded, end)) return;
  const row = await subagents.find(tenant, id);
  // The server may start its workflow later than its session's, which can be over at once.
  if (row?.ended_at === null) throw new Failure('Unavailable', `subagent ${id} has not begun yet`);
}

function endOf(input: FinishSubagentInput, row: SubagentRow, turn: TurnEnd | undefined): SubagentEnd {
  if (input.lost) return LOST_END;
  const { next } = input;
  return {
    status: input.status,
    result: turn?.text ?? null,
    error:
      input.status === 'failed'
        ? (turn?.error ?? { code: 'ExecutionFailed', message: input.reason ?? 'it ended without an answer' })
        : null,
    by: input.by ?? null,
    silent: input.silent ?? false,
    call: callResult(input, row, turn),
    next: next
      ? {
          id: next.subagent_id,
          label: `${row.label} (steered)`,
          task: next.message.slice(0, STEER_TEXT).toWellFormed(),
        }
      : undefined,
  };
}

function callResult(
  { status, reason }: FinishSubagentInput,
  row: SubagentRow,
  turn: TurnEnd | undefined,
): SubagentEnd['call'] {
  switch (status) {
    case 'completed': {
      const shown = { ...row, iterations: turn?.iterations ?? 0 };
      const { text } = cutText(
        syncResultText(shown, turn?.text ?? ''),
        MODEL_RESULT_BYTES,
        `/v1/subagents/${row.id}`,
      );
      return { ok: true, text };
    }
    case 'cancelled':
      return { ok: false, code: 'Cancelled', text: `Cancelled: Subagent '${row.label}' was cancelled.` };
    case 'timeout':
      return {
        ok: false,
        code: 'Timeout',
        text: `Timeout: Subagent '${row.label}' was ended after ${row.timeout_seconds} s.`,
      };
    default: {
      const why = turn?.error
        ? `${turn.error.code}: ${turn.error.message}`
        : (reason ?? 'it ended without an answer');
      return {
        ok: false,
        code: 'ExecutionFailed',
        text: `ExecutionFailed: Subagent '${row.label}' failed: ${why}`,
      };
    }
  }
}

/** Exactly once: the rows are claimed first, and the message has an id that follows from the claim. */
export async function announce(deps: AnnounceDeps, tenant: string, by: string): Promise<void> {
  const claimed = await deps.subagents.claimAnnouncement(tenant, by, ANNOUNCE.most);
  if (!claimed) return;
  const roster = await deps.subagents.list(tenant, claimed.session, deps.limits.archiveMinutes);
  const [first] = claimed.told;
  await deps.wake({
    tenant,
    session: claimed.session,
    messageId: announcementIdOf(by),
    text: announcementText(claimed.told, roster, deps.limits.children),
    mode: claimed.told.some((row) => row.announce === 'steer') ? 'steer' : 'queue',
    context: claimed.context,
    from: first && { session: claimed.session, turn: first.parent_turn },
  });
}

async function collect(deps: SubagentRunDeps, input: CollectSubagentsInput): Promise<number> {
  const { tenant, session, waiter } = input;
  const rows = await deps.subagents.collect(tenant, session, waiter);
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
  await deps.subagents.tellByCall(
    { tenant, session, turn: input.turn },
    { id: input.call, ...result },
    ended.map(({ id }) => id),
  );
  return 0;
}
