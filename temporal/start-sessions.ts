/** Requests to a session that start its workflow when none runs. */
import { sessionWorkflowId } from '#domain/ids.ts';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type EngineHints,
  type Receipt,
  type StopInput,
  type SubmitInput,
} from '#domain/turn/turn.ts';
import type { WorkflowReach, WorkflowStart } from '#domain/workflow-reach.ts';

/** What people see of a session in the Temporal web UI. */
interface SessionLabels {
  readonly agent: string;
  readonly user?: string | undefined;
  readonly summary: string;
}

interface SessionStart extends SessionLabels {
  readonly engine?: EngineHints | undefined;
}

export interface SessionStarts {
  /**
   * Starts the session's workflow or finds it running, and submits the message: one request. Safe to repeat. Throws
   * NotTaken when no worker accepted it within `withinMs` (10 seconds).
   */
  submit(
    tenant: string,
    session: string,
    message: SubmitInput,
    how: SessionStart,
    withinMs?: number,
  ): Promise<Receipt>;
  /**
   * The same without an answer: Temporal keeps the message for the next worker. Safe to repeat, also after `submit`.
   */
  leave(tenant: string, session: string, message: SubmitInput, how: SessionStart): Promise<void>;
  /**
   * A stop of level `all` whose turn is over: ends what the session has left running, unless another turn runs or waits
   * then. Temporal keeps it for the next worker. Safe to repeat.
   */
  stopIdle(tenant: string, session: string, stop: StopInput, labels: SessionLabels): Promise<void>;
}

export function sessionStartsOf(
  reach: Pick<WorkflowReach, 'updateWithStart' | 'signalWithStart'>,
  lingerSeconds = 0,
): SessionStarts {
  const start = (tenant: string, session: string, { engine, ...labels }: SessionStart): WorkflowStart => {
    const linger_seconds = lingerSeconds > 0 ? lingerSeconds : undefined;
    const input: AgentTurnInput = { tenant, session_key: session, linger_seconds, engine };
    return {
      type: AGENT_TURN.type,
      id: sessionWorkflowId(tenant, session),
      input,
      tenant,
      session,
      ...labels,
    };
  };
  return {
    submit: (tenant, key, message, how, withinMs) =>
      reach.updateWithStart<Receipt>(
        start(tenant, key, how),
        AGENT_TURN.updates.submit,
        message,
        message.id,
        withinMs,
      ),
    leave: (tenant, key, message, how) =>
      reach.signalWithStart(start(tenant, key, how), AGENT_TURN.signals.message, message),
    stopIdle: (tenant, key, stop, labels) =>
      reach.signalWithStart(start(tenant, key, labels), AGENT_TURN.signals.stop, stop),
  };
}
