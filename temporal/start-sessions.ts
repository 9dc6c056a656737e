/** The ways to a session that start its workflow when none runs, made for temporal/client.ts, which gives the client and its patience. */
import { WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import { sessionWorkflowId } from '#domain/ids.ts';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type Receipt,
  type StopInput,
  type SubmitInput,
  type TurnOutcome,
} from '#domain/turn.ts';
import { attribute } from './reach-workflows.ts';

/** What people see of a session in the Temporal web UI. */
interface SessionLabels {
  readonly agent: string;
  readonly user?: string | undefined;
  readonly summary: string;
}

export interface SessionStarts {
  /**
   * Starts the session's workflow, or finds it running, and gives it the message: all in one request. Safe to repeat.
   * Throws NotTaken when no worker took it within `withinMs` (10 seconds).
   */
  submit(
    tenant: string,
    session: string,
    message: SubmitInput,
    labels: SessionLabels,
    withinMs?: number,
  ): Promise<Receipt>;
  /** The same without an answer: Temporal keeps the message for the worker that comes. Safe to repeat, also after `submit`. */
  leave(tenant: string, session: string, message: SubmitInput, labels: SessionLabels): Promise<void>;
  /**
   * A stop of level `all` whose turn is over: ends what the session has left running, unless another turn runs or waits by
   * then. Temporal keeps it for the worker that comes. Safe to repeat.
   */
  stopIdle(tenant: string, session: string, stop: StopInput, labels: SessionLabels): Promise<void>;
}

type StartSession = (input: AgentTurnInput) => Promise<TurnOutcome>;

export function sessionStartsOf(
  client: WorkflowClient,
  { taskQueue, lingerSeconds }: { readonly taskQueue: string; readonly lingerSeconds?: number },
  ask: <Result>(request: () => Promise<Result>, withinMs?: number) => Promise<Result>,
): SessionStarts {
  const options = (tenant: string, key: string, labels: SessionLabels) => ({
    workflowId: sessionWorkflowId(tenant, key),
    taskQueue,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    args: [{ tenant, session_key: key, linger_seconds: lingerSeconds || undefined }] as [AgentTurnInput],
    staticSummary: labels.summary,
    typedSearchAttributes: sessionAttributes(tenant, key, labels),
  });
  const signal = <Input>(name: string, input: Input, start: ReturnType<typeof options>): Promise<void> =>
    ask(async () => {
      await client.signalWithStart<StartSession, [Input]>(AGENT_TURN.type, {
        ...start,
        signal: name,
        signalArgs: [input],
      });
    });
  return {
    submit: (tenant, key, message, labels, withinMs) =>
      ask(
        () =>
          client.executeUpdateWithStart<StartSession, Receipt, [SubmitInput]>(AGENT_TURN.updates.submit, {
            updateId: message.id,
            args: [message],
            startWorkflowOperation: new WithStartWorkflowOperation<StartSession>(AGENT_TURN.type, {
              ...options(tenant, key, labels),
              workflowIdConflictPolicy: 'USE_EXISTING',
            }),
          }),
        withinMs,
      ),
    leave: (tenant, key, message, labels) =>
      signal(AGENT_TURN.signals.message, message, options(tenant, key, labels)),
    stopIdle: (tenant, key, stop, labels) =>
      signal(AGENT_TURN.signals.stop, stop, options(tenant, key, labels)),
  };
}

function sessionAttributes(tenant: string, key: string, labels: SessionLabels): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: attribute.tenant, value: tenant },
    { key: attribute.session, value: key },
    { key: attribute.agent, value: labels.agent },
    { key: attribute.state, value: 'running' },
    ...(labels.user === undefined ? [] : [{ key: attribute.user, value: labels.user }]),
  ]);
}
