/**
 * One task of a team (TE-2 … TE-4), from its creation to its end. It decides who has the task; rows say what it has decided.
 * One that is closed has no open run: the next update starts one, which takes the task up from its row.
 */
import {
  ActivityFailure,
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
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { decideTask } from '#domain/team/decide-task.ts';
import type { Decision, Moment } from '#domain/team/decision.ts';
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
import { taskStartProblem } from '#domain/start-problem.ts';
import {
  isClosed,
  type MemberTurn,
  TASK_ACTIONS,
  type TaskAction,
  type TaskReceipt,
  type TaskRequest,
  type TaskState,
  type TaskStatus,
  type TaskView,
  TEAM_TASK,
  type TeamTaskActivities,
  type TeamTaskInput,
} from '#domain/team-task.ts';
import { ANNOUNCEMENT, RECORD } from './activity-options.ts';
import { type RunningJudgement, startJudging } from './steps/judge-task.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';
import { type RunningTurn, startMemberTurn } from './steps/member-turn.ts';
import {
  apply,
  type KnownTask,
  momentOf,
  newTask,
  notFound,
  takeUp,
  taskOf,
  type Telling,
} from './steps/task-record.ts';
import { answerOf, show, viewOf } from './steps/task-view.ts';

const releasedSignal = defineSignal(TEAM_TASK.signals.released);
const dependencySignal = defineSignal<[{ readonly number: number; readonly status: TaskStatus }]>(
  TEAM_TASK.signals.dependencyDone,
);
const stateQuery = defineQuery<TaskView | null>(TEAM_TASK.queries.state);

const local = proxyLocalActivities<TeamTaskActivities>(RECORD);
const remote = proxyActivities<TeamTaskActivities>({ ...ANNOUNCEMENT, summary: 'tells others' });

/** Where a long task goes on in a new run, far from the server's limits (2,000 updates, 51,200 events a run). */
const RUN_EVENTS = 500;

/** The task as it goes: handlers write through `apply`, the story below reads. */
interface Going extends KnownTask {
  /** What signals have said; looked at by the story. */
  readonly ended: { readonly number: number; readonly status: TaskStatus }[];
  released: boolean;
  missing?: true;
  /** The message of the lease with this fence is written; no turn when its member is no agent any more. */
  given?: { readonly fence: number; readonly turn: MemberTurn | null };
  turn?: RunningTurn;
  judgement?: RunningJudgement;
}

/** Throws NotFound when the task has no row. */
export async function teamTask(input: TeamTaskInput): Promise<TaskView> {
  refuseWrongStart(taskStartProblem(input, workflowInfo().workflowId), Object.values(TEAM_TASK.updates));
  const going: Going = { ...newTask(input), ended: [], released: false };
  handleMessages(going);
  const loaded = await CancellationScope.nonCancellable(() => local.load_team_task(input));
  if (!loaded) {
    going.missing = true;
    await condition(allHandlersFinished);
    throw notFound(input);
  }
  going.loaded = { task: loaded.task, team: loaded.team };
  going.released = loaded.over;
  for (const number of loaded.completed) going.ended.push({ number, status: 'completed' });
  if (loaded.lost) takeUp(going, loaded.lost);
  else await apply(going, ({ task }) => lostTurn(task));
  try {
    await untilAtRest(going);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    await CancellationScope.nonCancellable(() => cancelled(going));
  }
  return viewNow(going);
}

/** Cancelled in Temporal: so is the task, its member's turn with it. */
async function cancelled(going: Going): Promise<void> {
  await apply(going, (moment) => decideTask(moment, 'cancel', { by: { name: 'system' } }));
  if (going.turn) await going.turn.stop('system', 'the task was cancelled');
  await going.judgement?.stop();
  await tell(going);
  await condition(allHandlersFinished);
}

async function untilAtRest(going: Going): Promise<void> {
  for (;;) {
    const { revision } = taskOf(going);
    await hearSignals(going);
    await followTurn(going);
    await followJudging(going);
    await tell(going);
    if (isLong() && !going.turn && !going.judgement) await condition(allHandlersFinished);
    if (isSettled(going)) {
      if (isAtRest(going)) return;
      if (isLong()) await continueAsNew<typeof teamTask>(going.input);
    }
    show(taskOf(going));
    await untilSomethingHappens(going, revision);
  }
}

/** Never while a turn runs: its workflow is this run's child. */
function isLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength > RUN_EVENTS;
}

async function hearSignals(going: Going): Promise<void> {
  if (going.released) await give(going, (moment) => releaseAndDispatch(moment, going.input.team));
  going.released = false;
  for (let said = going.ended.shift(); said; said = going.ended.shift()) {
    const { number, status } = said;
    await apply(going, ({ task }) => dependencyEnded(task, number, status === 'completed'));
  }
}

/** Applies what may give the task to its member, whose message is then written with it. */
async function give(going: Going, decide: (moment: Moment) => Decision): Promise<void> {
  await apply(going, decide, undefined, async (input) => {
    const { recorded, turn } = await local.give_team_task(input);
    if (turn !== undefined) going.given = { fence: input.change.task.fence, turn };
    return recorded;
  });
}

/** Starts the member's turn, ends one whose lease is over, and takes what it leaves. */
async function followTurn(going: Going): Promise<void> {
  const { input, turn } = going;
  if (turn) {
    const over = turn.end();
    if (!over && mayGoOn(taskOf(going), turn)) return;
    if (!over) await turn.stop('system', 'the task is no longer this member’s');
    delete going.turn;
    await takeWhatIsLeft(going, turn);
  }
  if (isDue(taskOf(going))) await give(going, (moment) => dispatch(moment, input.team));
  const task = taskOf(going);
  // Also one that was given before a worker died, if Temporal had not heard of it.
  if (task.lease?.until !== null) return;
  const { fence } = task;
  const prepared =
    going.given?.fence === fence ? going.given.turn : await local.prepare_member_turn({ ...input, task });
  if (prepared) going.turn = startMemberTurn(input.tenant, fence, prepared);
  else await apply(going, (moment) => turnEnded(moment, { fence, status: 'failed', reason: NO_AGENT }));
}

/** Who has just handed its work in ends its turn by itself. */
function mayGoOn({ lease, status, judging }: TaskState, { fence }: RunningTurn): boolean {
  const isHandedIn = status === 'completed' || status === 'in_review' || judging?.fence === fence;
  return lease?.fence === fence || isHandedIn;
}

/** Has what was handed in judged when the turn that did so is over; ends the judging of what is not to be judged any more. */
async function followJudging(going: Going): Promise<void> {
  const { input, judgement } = going;
  if (judgement) {
    const end = judgement.end();
    if (!end && taskOf(going).judging?.of === judgement.of) return;
    if (!end) await judgement.stop();
    delete going.judgement;
    if (end) await apply(going, (moment) => judged(moment, end));
  }
  const { judging, subject } = taskOf(going);
  if (judging && !going.turn) going.judgement = startJudging(input, subject, judging);
}

async function takeWhatIsLeft(going: Going, { fence, turn, end }: RunningTurn): Promise<void> {
  const over = end();
  if (!over || taskOf(going).lease?.fence !== fence) return;
  const answers = over.status === 'completed' && !taskOf(going).question;
  const result = answers ? { result_of: turn } : {};
  await apply(going, (moment) => turnEnded(moment, { fence, ...over, ...result }));
}

const NO_AGENT = 'there is no such agent any more';

/** What cannot be told is on the board all the same. */
async function tell(going: Going): Promise<void> {
  for (let telling = going.untold.shift(); telling; telling = going.untold.shift()) {
    try {
      await CancellationScope.nonCancellable(() => tellOne(going.input, telling));
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      log.warn('nobody could be told', { kind: telling.kind, problem: error.cause?.message ?? '' });
    }
  }
}

function tellOne(input: TeamTaskInput, telling: Telling): Promise<void> {
  if (telling.kind === 'lead') {
    const { notice, revision } = telling;
    return remote.wake_lead({ ...input, notice, revision });
  }
  const { numbers, status } = telling;
  return remote.tell_dependents({ ...input, numbers, status });
}

function isSettled(going: Going): boolean {
  const nothingSaid = going.ended.length === 0 && going.untold.length === 0 && !going.released;
  const nothingRuns = !going.turn && !going.judgement && !taskOf(going).judging;
  return nothingSaid && nothingRuns && !isDue(taskOf(going)) && allHandlersFinished();
}

/** Nothing is expected but a word from outside, which starts a run of its own. */
function isAtRest(going: Going): boolean {
  return isClosed(taskOf(going).status);
}

/** `seen`: the revision from before all was looked at, since updates come meanwhile. */
async function untilSomethingHappens(going: Going, seen: number): Promise<void> {
  const alarm = nextAlarm(momentOf(going, ''));
  const happened = (): boolean =>
    taskOf(going).revision !== seen ||
    going.released ||
    going.ended.length > 0 ||
    going.turn?.end() !== undefined ||
    going.judgement?.end() !== undefined ||
    (isClosed(taskOf(going).status) && !going.turn && allHandlersFinished());
  if (alarm === undefined) return condition(happened);
  const inTime = await condition(happened, Math.max(1, alarm - Date.now()));
  if (!inTime) await apply(going, ring);
}

function handleMessages(going: Going): void {
  for (const action of TASK_ACTIONS) handle(going, TEAM_TASK.updates[action], action);
  handle(going, TEAM_TASK.updates.submitForReview, 'review');
  setHandler(releasedSignal, () => {
    going.released = true;
  });
  setHandler(dependencySignal, (said: (typeof going.ended)[number] | undefined) => {
    if (typeof said?.number === 'number') going.ended.push(said);
    else log.warn('a dependency without a number', { task: going.input.number });
  });
  setHandler(stateQuery, () => (going.loaded ? viewNow(going) : null));
}

/** Refused by the validator when the task is known, so that losers of a race leave nothing in the history. */
function handle(going: Going, name: string, action: TaskAction): void {
  const update = defineUpdate<TaskReceipt, [TaskRequest]>(name);
  setHandler(update, (asked) => answer(going, action, readRequest(asked)), {
    validator: (asked) => {
      const problem = requestProblem(asked);
      if (problem) throw ApplicationFailure.nonRetryable(problem, 'InvalidInput');
      const stands = going.standing.has(currentUpdateInfo()?.id ?? '');
      if (going.loaded && !stands) refuse(decideTask(momentOf(going, ''), action, readRequest(asked)));
    },
  });
}

async function answer(going: Going, action: TaskAction, asked: TaskRequest): Promise<TaskReceipt> {
  const request = currentUpdateInfo()?.id;
  await condition(() => going.loaded !== undefined || going.missing === true);
  if (going.missing) throw notFound(going.input);
  const decision = await apply(going, (moment) => decideTask(moment, action, asked), request);
  if (decision) refuse(decision);
  return answerOf(going.input, taskOf(going), action, asked.by.member, decision);
}

function refuse(decision: Decision): void {
  if (decision.kind !== 'refused') return;
  const { type, message, details } = decision;
  throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [details ?? {}] });
}

function viewNow(going: Going): TaskView {
  return viewOf(going.input, taskOf(going), going.turn?.session);
}
