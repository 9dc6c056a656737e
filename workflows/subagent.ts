/**
 * One subagent (SA-*): turns of its own session as a child workflow, its end as a row, and the message that tells its
 * parent. It is an abandoned child of the turn that started it, so it outlives that turn, every worker and every restart.
 */
import {
  ApplicationFailure,
  CancellationScope,
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
  uuid4,
} from '@temporalio/workflow';
import { sessionWorkflowId, subagentWorkflowId } from '#domain/ids.ts';
import { markdownText } from '#domain/markdown.ts';
import {
  ANNOUNCE,
  AWAIT_SUBAGENTS,
  type FinishedSubagent,
  type FinishSubagentInput,
  isSessionEnd,
  type SessionEnded,
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
import type { TurnOutcome } from '#domain/turn.ts';
import { ANNOUNCEMENT, RECORD } from './activity-options.ts';
import { childLabels } from './steps/child-labels.ts';
import { followSession } from './steps/follow-session.ts';
import { runSession, type SessionEnd } from './steps/run-session.ts';
import { signalIfRunning } from './steps/signal-if-running.ts';
import { inputProblem } from '#domain/start-problem.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';

const stopSignal = defineSignal<[StopSubagentInput?]>(SUBAGENT.signals.stop);
const endedSignal = defineSignal(SUBAGENT.signals.ended);
const sessionEndedSignal = defineSignal<[SessionEnded]>(SUBAGENT.signals.sessionEnded);
const steerSignal = defineSignal<[SteerSubagentInput]>(SUBAGENT.signals.steer);
const steerUpdate = defineUpdate<SteerSubagentReceipt, [SteerSubagentInput]>(SUBAGENT.updates.steer);
const stateQuery = defineQuery<SubagentState>(SUBAGENT.queries.state);

/** What the handlers leave for the story below. */
interface Wishes {
  status: SubagentStatus;
  stop: StopSubagentInput | undefined;
  steer: (SteerSubagentInput & { readonly nextId: string }) | undefined;
  /** Subagents of its own that have told it of their ends. */
  ended: number;
  /** Told by the run of its session that was started before it. */
  sessionEnd: SessionEnded | undefined;
  /** What comes now comes too late. */
  isEnding: boolean;
}

/** How soon it looks again whether its session has answered what its own subagents brought. */
const LOOK_AGAIN = { first: 1_000, most: 30_000 } as const;

type End = Omit<FinishSubagentInput, 'tenant' | 'subagent_id'>;

export async function subagent(input: SubagentInput): Promise<SubagentOutcome> {
  refuseWrongStart(
    inputProblem(
      'subagent',
      input,
      ['tenant', 'subagent_id', 'session_key', 'message_id', 'parent_session'],
      ['timeout_seconds'],
    ),
  );
  const wishes: Wishes = {
    status: 'queued',
    stop: undefined,
    steer: undefined,
    ended: 0,
    sessionEnd: undefined,
    isEnding: false,
  };
  const deadline = Date.now() + input.timeout_seconds * 1000;
  handleMessages(input, wishes);
  const { begin_subagent, finish_subagent } = proxyLocalActivities<SubagentActivities>(RECORD);
  const key = { tenant: input.tenant, subagent_id: input.subagent_id };

  const mayBegin =
    !input.lost &&
    (input.begins_in_session ?? (await CancellationScope.nonCancellable(() => begin_subagent(key))));
  let end: End = input.lost ? { status: 'failed', lost: true } : { status: 'cancelled' };
  if (mayBegin) {
    enter('running', input, wishes);
    end = await work(input, wishes, deadline);
  }
  for (let wait: number = LOOK_AGAIN.first; ; wait = Math.min(wait * 2, LOOK_AGAIN.most)) {
    wishes.isEnding = true;
    const seen = wishes.ended;
    const finished = await CancellationScope.nonCancellable(() => finish_subagent({ ...key, ...end }));
    if (!finished.pending) return CancellationScope.nonCancellable(() => leave(input, wishes, finished));
    wishes.isEnding = false;
    end = await untilOwnEnded(wishes, seen, Math.min(wait, deadline - Date.now()), deadline);
  }
}

function enter(status: SubagentStatus, input: SubagentInput, wishes: Wishes): void {
  wishes.status = status;
  const session = sessionWorkflowId(input.tenant, input.session_key);
  setCurrentDetails(`**${markdownText(input.label)}**: ${status}\n\nsession: \`${session}\``);
}

/** Its end is recorded: those who wait for it are told. */
async function leave(
  input: SubagentInput,
  wishes: Wishes,
  finished: FinishedSubagent,
): Promise<SubagentOutcome> {
  enter(finished.status, input, wishes);
  await tellOthers(input, finished);
  const { status, ok, next } = finished;
  const outcome = { subagent_id: input.subagent_id, status, ok, recorded: true } as const;
  return next ? goOnAsNext(input, outcome, next) : outcome;
}

/** Its turns are over, but not its own subagents, or what they brought has yet to be answered: looks again after a while. */
async function untilOwnEnded(wishes: Wishes, seen: number, wait: number, deadline: number): Promise<End> {
  try {
    await condition(() => wishes.ended > seen || isAsked(wishes), Math.max(1, wait));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return { status: 'cancelled' };
  }
  return isAsked(wishes)
    ? endOf({ inTime: true }, wishes)
    : { status: Date.now() < deadline ? 'completed' : 'timeout' };
}

function isAsked({ stop, steer }: Wishes): boolean {
  return stop !== undefined || steer !== undefined;
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
  setHandler(endedSignal, () => {
    wishes.ended += 1;
  });
  setHandler(sessionEndedSignal, (given) => {
    if (isSessionEnd(given)) wishes.sessionEnd ??= given;
  });
  setHandler(stateQuery, () => ({
    subagent_id: input.subagent_id,
    status: wishes.status,
    label: input.label,
    session_key: input.session_key,
    workflow_id: sessionWorkflowId(input.tenant, input.session_key),
    replaced_by: wishes.steer?.nextId,
  }));
}

/** Its turns; resolves when they have ended, by themselves or because somebody or the clock said so. */
async function work(input: SubagentInput, wishes: Wishes, deadline: number): Promise<End> {
  const limits = {
    deadline,
    isAsked: () => isAsked(wishes),
    askedBy: () => ({ by: wishes.stop?.by ?? wishes.steer?.by, reason: wishes.stop?.reason }),
  };
  if (!input.session_beside) return endOf(await runSession(input, limits), wishes);
  return endOf(await followSession(input, limits, () => wishes.sessionEnd), wishes);
}

function endOf({ outcome, problem, inTime }: SessionEnd<Pick<TurnOutcome, 'status'>>, wishes: Wishes): End {
  if (wishes.stop) {
    const { by, reason, silent } = wishes.stop;
    return {
      status: 'cancelled',
      by,
      reason,
      silent: silent || undefined,
    };
  }
  if (wishes.steer) {
    const { nextId, message, by } = wishes.steer;
    return {
      status: 'cancelled',
      by,
      next: { subagent_id: nextId, message },
    };
  }
  if (!inTime) return { status: 'timeout' };
  const told = problem === undefined ? {} : { reason: problem };
  if (outcome) return { status: STATUS_OF[outcome.status], ...told };
  return problem === undefined ? { status: 'cancelled' } : { status: 'failed', ...told };
}

const STATUS_OF: Readonly<Record<TurnOutcome['status'], SubagentEndStatus>> = {
  completed: 'completed',
  failed: 'failed',
  stopped: 'cancelled',
};

/** Those who wait for it, then its parent: together with others that end within the debounce. */
async function tellOthers(input: SubagentInput, finished: FinishedSubagent): Promise<void> {
  for (const waiter of finished.waiters) await signalIfRunning(waiter, AWAIT_SUBAGENTS.signals.ended, {});
  if (finished.untold === 0) return;
  if (finished.untold < ANNOUNCE.most) await sleep(ANNOUNCE.debounceMs);
  const { announce_subagents } = proxyActivities<SubagentActivities>(ANNOUNCEMENT);
  await announce_subagents({ tenant: input.tenant, subagent_id: input.subagent_id });
  if (finished.parent !== undefined)
    await signalIfRunning(subagentWorkflowId(finished.parent), SUBAGENT.signals.ended, {});
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
      user: input.user,
    }),
  });
  // A turn that waits for the old one waits for the new one.
  if (next.wait) return replacement.result();
  return { ...outcome, replaced_by: id };
}
