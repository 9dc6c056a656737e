/** What others send to a run of a session: the handlers only add to its inbox, and cancel what a stop is for. */
import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import { stopMeant, stopProblem } from '#domain/turn/stop-of-work.ts';
import { isStop } from '#domain/turn/submit-problem.ts';
import type { TurnInbox } from '#domain/turn/turn-inbox.ts';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type Receipt,
  type SteerInput,
  type StopInput,
  type StopReceipt,
  type SubmitInput,
  type TurnState,
} from '#domain/turn/turn.ts';
import { createSignalRefusals } from './refused-signals.ts';
import { refusalOfFullRun } from './run-limits.ts';
import type { IdleStop } from './stop-idle.ts';
import type { TurnView } from './turn-view.ts';

const submitUpdate = defineUpdate<Receipt, [SubmitInput]>(AGENT_TURN.updates.submit);
const steerUpdate = defineUpdate<Receipt, [SteerInput]>(AGENT_TURN.updates.steer);
const messageSignal = defineSignal<[SubmitInput]>(AGENT_TURN.signals.message);
const stopUpdate = defineUpdate<StopReceipt, [StopInput]>(AGENT_TURN.updates.stop);
const stopSignal = defineSignal<[StopInput]>(AGENT_TURN.signals.stop);
const stateQuery = defineQuery<TurnState>(AGENT_TURN.queries.state);

export interface MessagedRun {
  readonly input: AgentTurnInput;
  readonly inbox: TurnInbox;
  readonly idleStop: IdleStop;
  readonly view: TurnView;
  /** Scopes of the running turn, or of the next one. */
  scopes: ReturnType<typeof createScopes>;
  /** Number of messages that the run has received. */
  received: number;
  /** Number of updates among them. */
  updates: number;
}

/** What a stop cancels: the whole turn, or its questions to people. */
export function createScopes() {
  const turn = new CancellationScope();
  return { turn, questions: new CancellationScope({ cancellable: true, parent: turn }) };
}

export function handleMessages(run: MessagedRun): void {
  const { input, inbox, idleStop, view } = run;
  const refusals = createSignalRefusals();
  const act = <Result>(change: () => Result): Result => {
    run.received += 1;
    const result = change();
    const stop = inbox.pendingStop();
    if (stop?.level === 'step') run.scopes.questions.cancel();
    else if (stop) run.scopes.turn.cancel();
    return result;
  };
  const answer = <Result>(change: () => Result): Result => {
    run.updates += 1;
    return act(change);
  };
  const refuse = (payload: unknown, steering = false): void => {
    const refusal = inbox.refusal(payload, steering) ?? refusalOfFullRun(run.updates);
    if (refusal) throw ApplicationFailure.nonRetryable(refusal.message, refusal.type);
  };
  const takeStop = (payload: StopInput): string | undefined => {
    const required = stopMeant(input, payload);
    if (inbox.stop(required)) return undefined;
    // What waits behind a turn that has just ended goes too, as it would have a moment before.
    if (idleStop.isOfLast(required)) inbox.dropWaiting(required);
    return idleStop.take(required) ? undefined : stopProblem(required);
  };

  setHandler(submitUpdate, (message) => answer(() => inbox.submit(message)), {
    validator: (payload) => refuse(payload),
  });
  setHandler(steerUpdate, (message) => answer(() => inbox.steer(message)), {
    validator: (payload) => refuse(payload, true),
  });
  const refuseStop = (problem: string): never => {
    throw ApplicationFailure.nonRetryable(problem, 'StaleTurn');
  };
  // A full run accepts it too: it may have had too many signals.
  setHandler(
    stopUpdate,
    (payload) => {
      const problem = answer(() => takeStop(payload));
      return problem === undefined ? { turn_id: payload.turn_id, level: payload.level } : refuseStop(problem);
    },
    {
      validator(payload) {
        const required = stopMeant(input, payload);
        if (!isStop(required) || !(inbox.mayStop(required.turn_id) || idleStop.isOfLast(required)))
          refuseStop(stopProblem(required));
      },
    },
  );
  setHandler(messageSignal, (message) => {
    const refusal = inbox.refusal(message);
    if (refusal) act(() => refusals.note(AGENT_TURN.signals.message, message, refusal.message));
    else act(() => inbox.submit(message));
  });
  setHandler(stopSignal, (payload) => {
    const problem = act(() => takeStop(payload));
    if (problem !== undefined) refusals.note(AGENT_TURN.signals.stop, payload, problem);
  });
  setHandler(stateQuery, () => ({ ...view.state(inbox), ...refusals.shown() }));
}
