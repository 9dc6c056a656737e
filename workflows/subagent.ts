/**
 * One subagent (SA-*): turns of its own session as a child workflow, its end as a row, and the message that tells its
 * parent. It is an abandoned child of the turn that started it, so it outlives that turn, every worker and every restart.
 */
import {
  ApplicationFailure,
  CancellationScope,
  type ChildWorkflowHandle,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  startChild,
  TemporalFailure,
  uuid4,
} from '@temporalio/workflow';
import { sessionWorkflowId, subagentWorkflowId, turnIdOf } from '#domain/ids.ts';
import { markdownText } from '#domain/markdown.ts';
import {
  ANNOUNCE,
  type FinishedSubagent,
  type FinishSubagentInput,
  STEER_SETTLE_MS,
  type SteerSubagentInput,
  type SteerSubagentReceipt,
  steerProblem,
  type StopSubagentInput,
  SUBAGENT,
  type SubagentActivities,
  type SubagentEndStatus,
  type SubagentInput,
  type SubagentOutcome,
  type SubagentState,
  type SubagentStatus,
} from '#domain/subagent.ts';
import { AGENT_TURN, type AgentTurnInput, type StopInput, type TurnOutcome } from '#domain/turn.ts';
import { ANNOUNCEMENT, RECORD } from './activity-options.ts';
import { childLabels } from './steps/child-labels.ts';
import { signalIfRunning } from './steps/signal-if-running.ts';

const stopSignal = defineSignal<[StopSubagentInput?]>(SUBAGENT.signals.stop);
const steerSignal = defineSignal<[SteerSubagentInput]>(SUBAGENT.signals.steer);
const steerUpdate = defineUpdate<SteerSubagentReceipt, [SteerSubagentInput]>(SUBAGENT.updates.steer);
const stateQuery = defineQuery<SubagentState>(SUBAGENT.queries.state);

/** A turn that was told to stop has so long to do it by itself; then its workflow is cancelled. */
const STOP_PATIENCE = '5 seconds';

/** What the handlers leave for the story below. */
interface Wishes {
  status: SubagentStatus;
  stop: StopSubagentInput | undefined;
  steer: (SteerSubagentInput & { readonly nextId: string }) | undefined;
  /** What comes now comes too late. */
  isEnding: boolean;
}

/** How the session's workflow ended: with a turn, or by itself. */
interface Ends {
  outcome?: TurnOutcome;
  problem?: string;
}

type End = Omit<FinishSubagentInput, 'tenant' | 'subagent_id'>;

export async function subagent(input: SubagentInput): Promise<SubagentOutcome> {
  const wishes: Wishes = { status: 'queued', stop: undefined, steer: undefined, isEnding: false };
  handleMessages(input, wishes);
  const { begin_subagent, finish_subagent } = proxyLocalActivities<SubagentActivities>(RECORD);
  const key = { tenant: input.tenant, subagent_id: input.subagent_id };
  const show = (): void =>
    setCurrentDetails(
      `**${markdownText(input.label)}**: ${wishes.status}\n\nsession: \`${sessionWorkflowId(input.tenant, input.session_key)}\``,
    );

  const mayBegin = await CancellationScope.nonCancellable(() => begin_subagent(key));
  let end: End = { status: 'cancelled' };
  if (mayBegin) {
    wishes.status = 'running';
    show();
    end = await runSession(input, wishes);
  }
  wishes.isEnding = true;
  return CancellationScope.nonCancellable(async () => {
    const finished = await finish_subagent({ ...key, ...end });
    wishes.status = finished.status;
    show();
    await tellOthers(input, finished);
    const outcome = {
      subagent_id: input.subagent_id,
      status: finished.status,
      ok: finished.ok,
      recorded: true,
    } as const;
    return finished.next ? goOnAsNext(input, outcome, finished.next) : outcome;
  });
}

function handleMessages(input: SubagentInput, wishes: Wishes): void {
  const steer = (given: SteerSubagentInput): SteerSubagentReceipt => {
    wishes.steer ??= { ...given, nextId: `sub-${uuid4().replaceAll('-', '').slice(0, 16)}` };
    return { subagent_id: input.subagent_id, replaced_by: wishes.steer.nextId };
  };
  const refuse = (given: unknown): void => {
    const problem = steerProblem(given);
    if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
    if (wishes.isEnding || wishes.stop)
      throw ApplicationFailure.nonRetryable(
        `subagent "${input.subagent_id}" is not running (status=${wishes.stop ? 'cancelled' : wishes.status})`,
        'Conflict',
      );
  };

  setHandler(steerUpdate, steer, { validator: refuse });
  setHandler(steerSignal, (given) => {
    try {
      refuse(given);
    } catch (error) {
      // A signal cannot be answered; those who want to know use the update.
      log.warn('steer refused', { problem: error instanceof Error ? error.message : '' });
      return;
    }
    steer(given);
  });
  setHandler(stopSignal, (given) => {
    wishes.stop ??= given ?? {};
  });
  setHandler(stateQuery, () => ({
    subagent_id: input.subagent_id,
    status: wishes.status,
    label: input.label,
    session_key: input.session_key,
    workflow_id: sessionWorkflowId(input.tenant, input.session_key),
    ...(wishes.steer ? { replaced_by: wishes.steer.nextId } : {}),
  }));
}

/** Resolves when the session's turns have ended, by themselves or because somebody or the clock said so. */
async function runSession(input: SubagentInput, wishes: Wishes): Promise<End> {
  const scope = new CancellationScope();
  const ends: Ends = {};
  const isOver = (): boolean => ends.outcome !== undefined || ends.problem !== undefined;
  let over: Promise<void> = Promise.resolve();
  let inTime = true;
  try {
    const session = await scope.run(() => startSession(input));
    over = session.result().then(
      (outcome) => void (ends.outcome = outcome),
      (error: unknown) => void (ends.problem = problemOf(error)),
    );
    const isAsked = (): boolean => wishes.stop !== undefined || wishes.steer !== undefined;
    inTime = await condition(() => isOver() || isAsked(), input.timeout_seconds * 1000);
    if (!isOver()) await stopSession(input, session, wishes, scope, isOver);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // Cancelled itself: the session's turns are cancelled with it, and end in their own order.
    if (!isCancellation(error)) ends.problem = problemOf(error);
  }
  await over;
  return endOf(ends, wishes, inTime);
}

function startSession(input: SubagentInput): Promise<ChildWorkflowHandle<AgentTurn>> {
  const turnId = turnIdOf(input.message_id);
  const turn = { turnId, messages: [{ id: input.message_id }], preview: input.label };
  return startChild<AgentTurn>(AGENT_TURN.type, {
    workflowId: sessionWorkflowId(input.tenant, input.session_key),
    args: [
      {
        tenant: input.tenant,
        session_key: input.session_key,
        carry: { queue: [turn], seen: [[input.message_id, turnId]] },
      },
    ],
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: `${input.agent}: ${input.label}`,
    typedSearchAttributes: childLabels({
      tenant: input.tenant,
      session: input.session_key,
      agent: input.agent,
      ...(input.user === undefined ? {} : { user: input.user }),
    }),
  });
}

type AgentTurn = (input: AgentTurnInput) => Promise<TurnOutcome>;

async function stopSession(
  input: SubagentInput,
  session: ChildWorkflowHandle<AgentTurn>,
  wishes: Wishes,
  scope: CancellationScope,
  isOver: () => boolean,
): Promise<void> {
  const stop: StopInput = {
    level: 'all',
    turn_id: turnIdOf(input.message_id),
    by: wishes.stop?.by ?? wishes.steer?.by ?? 'system',
    ...(wishes.stop?.reason === undefined ? {} : { reason: wishes.stop.reason }),
  };
  await session.signal(AGENT_TURN.signals.stop, stop).catch((error: unknown) => {
    // It has just ended, or is cancelled below.
    log.info('stop did not reach the session', { problem: problemOf(error) });
  });
  if (!(await condition(isOver, STOP_PATIENCE))) scope.cancel();
}

function endOf(ends: Ends, wishes: Wishes, inTime: boolean): End {
  const { outcome } = ends;
  const turn = outcome?.turn_id ? { turn_id: outcome.turn_id } : {};
  if (wishes.stop) {
    const { by, reason, silent } = wishes.stop;
    return {
      ...turn,
      status: 'cancelled',
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
      ...(silent ? { silent } : {}),
    };
  }
  if (wishes.steer) {
    const { nextId, message, by } = wishes.steer;
    return {
      ...turn,
      status: 'cancelled',
      ...(by === undefined ? {} : { by }),
      next: { subagent_id: nextId, message },
    };
  }
  if (!inTime) return { ...turn, status: 'timeout' };
  if (outcome) return { ...turn, status: STATUS_OF[outcome.status] };
  return ends.problem === undefined ? { status: 'cancelled' } : { status: 'failed', reason: ends.problem };
}

const STATUS_OF: Readonly<Record<TurnOutcome['status'], SubagentEndStatus>> = {
  completed: 'completed',
  failed: 'failed',
  stopped: 'cancelled',
};

/** Those who wait for it, then its parent: together with others that end within the debounce. */
async function tellOthers(input: SubagentInput, finished: FinishedSubagent): Promise<void> {
  for (const waiter of finished.waiters) await signalIfRunning(waiter, 'ended', {});
  if (finished.untold === 0) return;
  if (finished.untold < ANNOUNCE.most) await sleep(ANNOUNCE.debounceMs);
  const { announce_subagents } = proxyActivities<SubagentActivities>(ANNOUNCEMENT);
  await announce_subagents({ tenant: input.tenant, subagent_id: input.subagent_id });
}

/** SA-2, steer: the replacement has the place already; the old one's tools get a moment to let go. */
async function goOnAsNext(
  input: SubagentInput,
  outcome: SubagentOutcome,
  next: NonNullable<FinishedSubagent['next']>,
): Promise<SubagentOutcome> {
  await sleep(STEER_SETTLE_MS);
  const { subagent_id: id, label, session_key, agent } = next.input;
  const replacement = await startChild<typeof subagent>(SUBAGENT.type, {
    workflowId: subagentWorkflowId(id),
    args: [next.input],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    staticSummary: `subagent: ${label}`,
    typedSearchAttributes: childLabels({
      tenant: input.tenant,
      session: session_key,
      agent,
      ...(input.user === undefined ? {} : { user: input.user }),
    }),
  });
  // A turn that waits for the old one waits for the new one.
  if (next.wait) return replacement.result();
  return { ...outcome, replaced_by: id };
}

function problemOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message.slice(0, 500) : 'unknown error';
}
