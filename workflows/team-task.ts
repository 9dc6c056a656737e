/**
 * One task of a team (TE-2 … TE-4), from its creation to its end. It decides who has the task; rows contain its
 * decisions. A closed task has no open run: the next update starts one, which continues from its row.
 */
import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  defineQuery,
  defineSignal,
  defineUpdate,
  isCancellation,
  log,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { decideTask } from '#domain/team/decide-task.ts';
import { isHolder, type Moment, type TaskDecision } from '#domain/team/decision.ts';
import { judged } from '#domain/team/judge-task.ts';
import {
  dependencyEnded,
  dispatch,
  isDue,
  lostTurn,
  nextAlarm,
  releaseAndDispatch,
  ring,
  turnEnded,
} from '#domain/team/task-events.ts';
import { readRequest, requestProblem } from '#domain/team/read-request.ts';
import { taskStartProblem } from '#domain/turn/start-problem.ts';
import {
  isClosed,
  type MemberTurn,
  TASK_ACTIONS,
  TASK_NOTES,
  type TaskAction,
  type TaskReceipt,
  type TaskRequest,
  type TaskState,
  type TaskStatus,
  type TaskView,
  TEAM_TASK,
  type TeamTaskActivities,
  type TeamTaskInput,
} from '#domain/team/team-task.ts';
import { RECORD } from './activity-options.ts';
import { type RunningJudgement, startJudging } from './steps/gates/judge-task.ts';
import { isQuiet } from './steps/is-quiet.ts';
import { keepUpdate } from './steps/keep-update.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';
import { refusalOfFullRun } from './steps/run-limits.ts';
import { type RunningTurn, startMemberTurn } from './steps/teams/member-turn.ts';
import { notifyOthers } from './steps/teams/notify-others.ts';
import { stopWork } from './steps/teams/stop-work.ts';
import { noteRefused, type RefusedRequests } from './steps/teams/refused-requests.ts';
import {
  apply,
  type KnownTask,
  momentOf,
  newTask,
  notFound,
  takeUp,
  taskOf,
} from './steps/teams/task-record.ts';
import { answerOf, show, viewOf } from './steps/teams/task-view.ts';

const releasedSignal = defineSignal(TEAM_TASK.signals.released);
const dependencySignal = defineSignal<[{ readonly number: number; readonly status: TaskStatus }]>(
  TEAM_TASK.signals.dependencyDone,
);
const stateQuery = defineQuery<TaskView | null>(TEAM_TASK.queries.state);

const local = proxyLocalActivities<TeamTaskActivities>(RECORD);

/** Where a long task continues in a new run, if no turn and no judgement is its child. */
const RUN_EVENTS = 500;

/** State of the task: handlers write it through `apply`, the main function below reads it. */
interface Progress extends KnownTask, RefusedRequests {
  /** Number of messages that this run has received. */
  received: number;
  /** Number of updates that this run has accepted. */
  updates: number;
  /** Contents of signals, which the main function processes. */
  readonly ended: { readonly number: number; readonly status: TaskStatus }[];
  released: boolean;
  missing?: true;
  /** The message of the lease with this fence is written; there is no turn when the member's agent no longer exists. */
  assigned?: { readonly fence: number; readonly turn: MemberTurn | null };
  turn?: RunningTurn;
  /** Delegated work that has had the task, unless it has given it up itself. */
  work?: string | undefined;
  judgement?: RunningJudgement;
}

/** Throws NotFound when the task has no row. */
export async function teamTask(input: TeamTaskInput): Promise<TaskView> {
  refuseWrongStart(taskStartProblem(input, workflowInfo().workflowId), Object.values(TEAM_TASK.updates));
  const progress: Progress = {
    ...newTask(input),
    ended: [],
    released: false,
    refusals: 0,
    received: 0,
    updates: 0,
  };
  handleMessages(progress);
  const loaded = await CancellationScope.nonCancellable(() => local.load_team_task(input));
  if (!loaded) {
    progress.missing = true;
    await condition(allHandlersFinished);
    throw notFound(input);
  }
  progress.loaded = { task: loaded.task, team: loaded.team };
  progress.work = loaded.task.lease?.work;
  progress.signals = loaded.signals ?? undefined;
  progress.refusals += loaded.signals?.refused ?? 0;
  progress.released ||= loaded.isOriginClosed;
  for (const number of loaded.completed) progress.ended.push({ number, status: 'completed' });
  if (loaded.lost) takeUp(progress, loaded.lost);
  else await apply(progress, ({ task }) => lostTurn(task));
  try {
    await untilAtRest(progress);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => cancelled(progress));
  }
  return viewNow(progress);
}

/** Cancelled in Temporal: this cancels the task, and its member's turn with it. */
async function cancelled(progress: Progress): Promise<void> {
  await apply(progress, (moment) => decideTask(moment, 'cancel', { by: { name: 'system' } }));
  if (progress.turn) await progress.turn.stop('system', 'the task was cancelled');
  await progress.judgement?.stop();
  await notifyOthers(progress);
  await condition(allHandlersFinished);
}

async function untilAtRest(progress: Progress): Promise<void> {
  for (;;) {
    const { revision } = taskOf(progress);
    await hearSignals(progress);
    await followTurn(progress);
    await followWork(progress);
    await followJudging(progress);
    await notifyOthers(progress);
    if (isLong() && !progress.turn && !progress.judgement) await condition(allHandlersFinished);
    if (isSettled(progress)) {
      if (isAtRest(progress)) return;
      if (isLong() && (await isQuiet(() => progress.received)))
        await continueAsNew<typeof teamTask>(progress.input);
    }
    show(taskOf(progress));
    await untilSomethingHappens(progress, revision);
  }
}

/** Never while a turn runs, because its workflow is this run's child. */
function isLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength > RUN_EVENTS;
}

async function hearSignals(progress: Progress): Promise<void> {
  if (progress.released) await give(progress, (moment) => releaseAndDispatch(moment, progress.input.team));
  progress.released = false;
  for (let message = progress.ended.shift(); message; message = progress.ended.shift()) {
    const { number, status } = message;
    await apply(progress, ({ task }) => dependencyEnded(task, number, status === 'completed'));
  }
}

/** Applies a change that may give the task to its member, whose message is then written with it. */
async function give(progress: Progress, decide: (moment: Moment) => TaskDecision): Promise<void> {
  await apply(progress, decide, undefined, async (input) => {
    const { recorded, turn } = await local.give_team_task(input);
    if (turn !== undefined) progress.assigned = { fence: input.change.task.fence, turn };
    return recorded;
  });
}

/** Starts the member's turn, ends one whose lease is over, and processes its result. */
async function followTurn(progress: Progress): Promise<void> {
  const { input, turn } = progress;
  if (turn) {
    const ended = turn.end();
    if (!ended && mayGoOn(taskOf(progress), turn)) return;
    if (!ended) await turn.stop('system', 'the task is no longer this member’s');
    delete progress.turn;
    await takeWhatIsLeft(progress, turn);
  }
  if (isDue(taskOf(progress))) await give(progress, (moment) => dispatch(moment, input.team));
  const task = taskOf(progress);
  // Also one that was given before a worker died, if Temporal did not know it.
  if (task.lease?.until !== null) return;
  const { fence } = task;
  const prepared =
    progress.assigned?.fence === fence
      ? progress.assigned.turn
      : await local.prepare_member_turn({ ...input, task });
  if (prepared) progress.turn = startMemberTurn(input.tenant, fence, prepared);
  else await apply(progress, (moment) => turnEnded(moment, { fence, status: 'failed', reason: NO_AGENT }));
}

async function followWork(progress: Progress): Promise<void> {
  const { work } = progress;
  const task = taskOf(progress);
  progress.work = task.lease?.work;
  if (work !== undefined && work !== progress.work) await stopWork(work, task);
}

/** A member that has just submitted its work ends its turn by itself. */
function mayGoOn({ lease, status, judging }: TaskState, { fence }: RunningTurn): boolean {
  const isHandedIn = status === 'completed' || status === 'in_review' || judging?.fence === fence;
  return lease?.fence === fence || isHandedIn;
}

/** Judges submitted work when the turn that submitted it is over; ends judging that is no longer needed. */
async function followJudging(progress: Progress): Promise<void> {
  const { input, judgement } = progress;
  if (judgement) {
    const end = judgement.end();
    if (!end && taskOf(progress).judging?.of === judgement.of) return;
    if (!end) await judgement.stop();
    delete progress.judgement;
    if (end) await apply(progress, (moment) => judged(moment, end));
  }
  const { judging, subject } = taskOf(progress);
  if (judging && !progress.turn) progress.judgement = startJudging(input, subject, judging);
}

async function takeWhatIsLeft(progress: Progress, { fence, turn, end }: RunningTurn): Promise<void> {
  const ended = end();
  if (!ended || taskOf(progress).lease?.fence !== fence) return;
  const answers = ended.status === 'completed' && !taskOf(progress).question;
  const result = answers ? { result_of: turn } : {};
  await apply(progress, (moment) => turnEnded(moment, { fence, ...ended, ...result }));
}

const NO_AGENT = 'there is no such agent any more';

function isSettled(progress: Progress): boolean {
  const isSilent = progress.ended.length === 0 && progress.pending.length === 0 && !progress.released;
  const nothingRuns = !progress.turn && !progress.judgement && !taskOf(progress).judging;
  return isSilent && nothingRuns && !isDue(taskOf(progress)) && allHandlersFinished();
}

/** Only a message from outside, which starts its own run, can change the task. */
function isAtRest(progress: Progress): boolean {
  return isClosed(taskOf(progress).status);
}

/** `seen`: the revision from before everything was checked, because updates arrive meanwhile. */
async function untilSomethingHappens(progress: Progress, seen: number): Promise<void> {
  const alarm = nextAlarm(momentOf(progress, ''));
  const happened = (): boolean =>
    taskOf(progress).revision !== seen ||
    progress.released ||
    progress.ended.length > 0 ||
    progress.turn?.end() !== undefined ||
    progress.judgement?.end() !== undefined ||
    (isClosed(taskOf(progress).status) && !progress.turn && allHandlersFinished());
  if (alarm === undefined) return condition(happened);
  const inTime = await condition(happened, Math.max(1, alarm - Date.now()));
  if (!inTime) await apply(progress, ring);
}

function handleMessages(progress: Progress): void {
  for (const action of TASK_ACTIONS) handle(progress, TEAM_TASK.updates[action], action);
  handle(progress, TEAM_TASK.updates.submitForReview, 'review');
  setHandler(releasedSignal, () => {
    progress.received += 1;
    progress.released = true;
  });
  setHandler(dependencySignal, (message: (typeof progress.ended)[number] | undefined) => {
    progress.received += 1;
    if (typeof message?.number === 'number') progress.ended.push(message);
    else log.warn('a dependency without a number', { task: progress.input.number });
  });
  setHandler(stateQuery, () => (progress.loaded ? viewNow(progress) : null));
}

/** The validator refuses when the task is known, so that losers of a race leave nothing in the history. */
function handle(progress: Progress, name: string, action: TaskAction): void {
  const update = defineUpdate<TaskReceipt, [TaskRequest]>(name);
  handleSignal(progress, name, action);
  const take = (request: TaskRequest): Promise<TaskReceipt> => {
    progress.received += 1;
    progress.updates += 1;
    return answer(progress, action, readRequest(request));
  };
  setHandler(update, take, {
    validator: (request) => {
      const problem = requestProblem(request);
      if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
      const full = TASK_NOTES.has(action) ? refusalOfFullRun(progress.updates) : undefined;
      if (full) throw ApplicationFailure.nonRetryable(full.message, full.type);
      const exists = progress.recordedRequests.has(currentUpdateInfo()?.id ?? '');
      if (progress.loaded && !exists)
        refuse(decideTask(momentOf(progress, ''), action, readRequest(request)));
    },
  });
}

/** The same for clients that can only signal: refusals appear in the state. */
function handleSignal(progress: Progress, name: string, action: TaskAction): void {
  setHandler(defineSignal<[TaskRequest]>(name), async (request) => {
    progress.received += 1;
    try {
      const problem = requestProblem(request);
      if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
      await answer(progress, action, readRequest(request));
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
      await noteRefused(progress, action, request, error.message);
    }
  });
}

async function answer(progress: Progress, action: TaskAction, requested: TaskRequest): Promise<TaskReceipt> {
  const request = await keepUpdate();
  await condition(() => progress.loaded !== undefined || progress.missing === true);
  if (progress.missing) throw notFound(progress.input);
  const { by } = requested;
  const isOwnWork = isHolder({ task: taskOf(progress) }, by);
  const decision = await apply(progress, (moment) => decideTask(moment, action, requested), request);
  if (decision) refuse(decision);
  if (isOwnWork) progress.work = taskOf(progress).lease?.work;
  return answerOf(progress.input, taskOf(progress), action, by.member, decision);
}

function refuse(decision: TaskDecision): void {
  if (decision.kind !== 'refused') return;
  const { type, message, details } = decision;
  throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [details ?? {}] });
}

function viewNow(progress: Progress): TaskView {
  return { ...viewOf(progress.input, taskOf(progress), progress.turn?.session), ...progress.signals };
}
