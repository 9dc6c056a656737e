/**
 * One run is one turn; the chain of runs under one id is the session. Handlers only add to the inbox; the main function
 * below acts on it.
 */
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  defineQuery,
  isCancellation,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type EngineHints,
  type ParkedSession,
  type QueuedTurn,
  type SettledCall,
  type TurnOutcome,
} from '#domain/turn/turn.ts';
import type { CallModelResult } from '#domain/turn/turn-activities.ts';
import { sessionStartProblem } from '#domain/turn/start-problem.ts';
import { TEAM_TASKS_TOOL } from '#domain/team/team-task.ts';
import { createTurnInbox, type TurnInbox } from '#domain/turn/turn-inbox.ts';
import { awaitAnnouncement, awaitNextTurn, awaitTurn, hasTurnAtOnce } from './steps/await-turn.ts';
import { askForBudget } from './steps/ask-for-budget.ts';
import { labelUnlabelled } from './steps/child-labels.ts';
import { reasonOf } from './steps/failure-cause.ts';
import { hastenStopOf } from './steps/hasten-stop.ts';
import { plainSteps, type Steps } from './steps/plain-steps.ts';
import { type CallSurroundings, runCalls } from './steps/run-calls.ts';
import { judgeTurn } from './steps/gates/judge-turn.ts';
import { mayGoOnInNewRun, shouldGoOnInNewRun } from './steps/run-limits.ts';
import { recordTurnEnd, type TurnEnd } from './steps/record-turn-end.ts';
import { refuseWrongStart } from './steps/refuse-start.ts';
import { createScopes, handleMessages, type MessagedRun } from './steps/session-messages.ts';
import { createIdleStop } from './steps/stop-idle.ts';
import { parkedSession, resumeOf, startProgress, type TurnProgress } from './steps/turn-progress.ts';
import { createTurnView } from './steps/turn-view.ts';

const parkedQuery = defineQuery<ParkedSession>(AGENT_TURN.queries.parked);

/** What the handlers and turns of a run share. */
interface SessionRun extends MessagedRun {
  /** The input of the turn. */
  input: AgentTurnInput;
  readonly steps: Steps;
  /** Of the running turn. */
  progress: TurnProgress | undefined;
}

export const agentTurn = createAgentTurn(() => plainSteps);

/** Creates the workflow. `createSteps` is called once per run. */
export function createAgentTurn(
  createSteps: (hints?: EngineHints) => Steps,
): (input: AgentTurnInput) => Promise<TurnOutcome> {
  return async function agentTurn(input) {
    const problem = sessionStartProblem(input, workflowInfo().workflowId);
    refuseWrongStart(problem, Object.values(AGENT_TURN.updates));
    const inbox = createTurnInbox(input.carry);
    const run: SessionRun = {
      input,
      inbox,
      idleStop: createIdleStop(input, inbox.isIdle),
      view: createTurnView(input),
      steps: createSteps(input.engine),
      scopes: createScopes(),
      progress: undefined,
      received: 0,
      updates: 0,
    };
    handleMessages(run);
    setHandler(parkedQuery, () => parkedSession(sessionOf(input), run));
    let outcome = await oneTurn(run);
    while (await hasNextInThisRun(run)) {
      run.input = sessionOf(input);
      outcome = await oneTurn(run);
    }
    if (inbox.hasTurn()) await continueAsNew<typeof agentTurn>({ ...sessionOf(input), carry: inbox.carry() });
    return outcome;
  };
}

/** A run that was started to linger (`linger_seconds`) waits for the next turn and runs it too. */
async function hasNextInThisRun(run: SessionRun): Promise<boolean> {
  const { input, inbox, idleStop, view } = run;
  if (input.linger_seconds === undefined || input.assigned !== undefined) return false;
  if (CancellationScope.current().consideredCancelled || shouldGoOnInNewRun(run.received)) return false;
  view.idle();
  return inbox.hasTurn() || awaitNextTurn(input.linger_seconds, inbox, idleStop, () => run.received);
}

async function oneTurn(run: SessionRun): Promise<TurnOutcome> {
  const { input, inbox, idleStop, view } = run;
  const resume = input.carry?.resume;
  const without =
    resume || hasTurnAtOnce(input, inbox, idleStop) ? undefined : await awaitTurn(input, inbox, idleStop);
  if (without) return without;

  const turn = resume?.turn ?? inbox.startTurn();
  labelUnlabelled(input);
  view.begin(turn);
  const end = await runTurn(run, turn);
  run.progress = undefined;
  const stop = inbox.pendingStop();
  // This comes before the record, which may take long while Postgres is unavailable: messages that arrive meanwhile
  // belong to the next turn.
  inbox.endTurn();
  run.scopes = createScopes();
  idleStop.turnEnded(turn.turnId);
  const { status, isPending } = await recordTurnEnd(turn, end, stop, input, inbox);
  const outcome = outcomeOf(turn, status === null || status === end.status ? end : { status, preview: '' });
  view.ended(outcome.status);
  if (idleStop.isRequired()) await idleStop.carryOut();
  else if (isPending && end.status === 'completed' && (await awaitAnnouncement(inbox, idleStop)))
    return { ...outcome, status: 'stopped' };
  return outcome;
}

function outcomeOf(
  { turnId }: QueuedTurn,
  { status, preview, error }: Pick<TurnEnd, 'status' | 'preview' | 'error'>,
): TurnOutcome {
  return { turn_id: turnId, status, preview, error };
}

async function runTurn(run: SessionRun, turn: QueuedTurn): Promise<TurnEnd> {
  const progress = startProgress(turn, run.input.carry?.resume);
  run.progress = progress;
  hastenStopOf(run.scopes.turn);
  try {
    return await run.scopes.turn.run(() => untilAnswered(run, progress));
  } catch (error) {
    // A call that is stopped may also fail.
    const isStopped = isCancellation(error) || run.scopes.turn.consideredCancelled;
    if (isStopped) return { ...progress, status: 'stopped', preview: '' };
    if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) throw error;
    return { ...progress, status: 'failed', preview: '', error: reasonOf(error) };
  }
}

/**
 * Runs steps until there is an answer and its gates have passed it, and continues if a message for the turn has arrived
 * meanwhile.
 */
async function untilAnswered(run: SessionRun, progress: TurnProgress): Promise<TurnEnd> {
  const { input, inbox, view } = run;
  const answered = (): Promise<TurnEnd> => takeSteps(run, progress);
  for (let end = await answered(); ; end = await answered()) {
    if (end.status !== 'completed' || end.gates === undefined) return end;
    const verdict = await judgeTurn(
      {
        tenant: input.tenant,
        turn: progress.turn,
        gates: end.gates,
        from: progress.gate,
        pendingStop: inbox.pendingStop,
        async revise(messageId, next) {
          progress.gate = next;
          progress.step += 1;
          progress.messages = [{ id: messageId }];
          const revised = await answered();
          return revised.status === 'completed' ? revised : undefined;
        },
        view,
      },
      end,
    );
    if (inbox.pendingStop()) return { ...progress, status: 'stopped', preview: '' };
    if (verdict.kind === 'blocked') {
      const { message } = verdict;
      return { ...progress, status: 'failed', preview: message, error: { code: 'GateBlocked', message } };
    }
    const { step, preview } = verdict.answer;
    if (inbox.steeringWaits() === 0)
      return { ...progress, status: 'completed', preview, releaseAnswer: step };
    progress.gate = verdict.next;
    progress.step += 1;
  }
}

async function takeSteps(run: SessionRun, progress: TurnProgress): Promise<TurnEnd> {
  const { input, inbox, view } = run;
  const around = {
    tenant: input.tenant,
    sessionKey: input.session_key,
    turnId: progress.turn.turnId,
    onChange: view.call,
    steps: run.steps,
    questions: run.scopes.questions,
    onStopped: (settled: SettledCall) => void (progress.settle = [...progress.settle, settled]),
    onSettled: (settled: SettledCall) => void progress.settled.push(settled),
  };
  for (; ; progress.step += 1) {
    if (inbox.pendingStop()) return { ...progress, status: 'stopped', preview: '' };
    if (await mayGoOnInNewRun(() => run.received)) await goOnInNewRun(input, progress, inbox);
    inbox.reachStep(progress.step);
    progress.messages = [...progress.messages, ...inbox.takeSteering()];
    view.step(progress.step);

    const answer = await answerOf(run, progress, around);
    view.spent(answer);
    if (answer.kind === 'duplicate')
      return { ...progress, status: 'stopped', preview: 'duplicate', ...answer.ended, duplicate: true };
    if (answer.kind === 'limit') {
      // The stop has withdrawn the question for more budget.
      if (inbox.pendingStop()) return { ...progress, status: 'stopped', preview: '' };
      const { code, message } = answer;
      return { ...progress, status: 'failed', preview: message, error: { code, message }, limit: message };
    }
    if (answer.kind === 'calls' && answer.calls.some(({ tool }) => tool === TEAM_TASKS_TOOL))
      progress.tasks = true;
    if (answer.kind === 'calls') {
      progress.settle = await runCalls(answer.calls, around);
      progress.settled = [];
    } else if (!answer.unheard && inbox.steeringWaits() === 0) {
      const { preview, gates, ended: recorded } = answer;
      return { ...progress, status: 'completed', preview, gates, recorded };
    }
  }
}

/** Repeats the call as often as people allow the step more budget. */
async function answerOf(
  { input, steps }: SessionRun,
  progress: TurnProgress,
  around: CallSurroundings,
): Promise<Exclude<CallModelResult, { kind: 'budget' }>> {
  for (; ; progress.increases += 1) {
    const answer = await steps.askModel({
      tenant: input.tenant,
      session: input.session_key,
      turn: progress.turn.turnId,
      step: progress.step,
      messages: progress.messages,
      settle: progress.settle.length > 0 ? progress.settle : undefined,
      increases: progress.increases > 0 ? progress.increases : undefined,
      // What it has created for a team is released with its end.
      ends: progress.tasks || input.assigned !== undefined ? undefined : true,
    });
    progress.messages = [];
    progress.settle = [];
    if (answer.kind !== 'budget') {
      progress.increases = 0;
      return answer;
    }
    const refusal = await askForBudget(answer, around);
    if (refusal !== undefined) return { kind: 'limit', code: 'BudgetExceeded', message: refusal };
  }
}

async function goOnInNewRun(input: AgentTurnInput, progress: TurnProgress, inbox: TurnInbox): Promise<never> {
  const carry = inbox.carry(resumeOf(progress, inbox));
  return continueAsNew<typeof agentTurn>({ ...sessionOf(input), carry });
}

function sessionOf({ tenant, session_key, assigned, linger_seconds }: AgentTurnInput): AgentTurnInput {
  return { tenant, session_key, assigned, linger_seconds };
}
