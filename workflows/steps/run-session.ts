/**
 * An agent at work in a session of its own, as a child of the workflow that needs the work. It lasts from its message
 * to the end of its turns, or until somebody or a time limit ends it.
 */
import {
  CancellationScope,
  type ChildWorkflowHandle,
  condition,
  isCancellation,
  log,
  ParentClosePolicy,
  TemporalFailure,
} from '@temporalio/workflow';
import { TerminatedFailure, WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { LOST_END } from '#domain/turn/lost-work.ts';
import { sessionWorkflowId, turnIdOf } from '#domain/ids.ts';
import { stopOfWork, TIME_UP } from '#domain/turn/stop-of-work.ts';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type EngineHints,
  type StopInput,
  type TurnOutcome,
} from '#domain/turn/turn.ts';
import { childLabels } from './child-labels.ts';
import { startCancellable } from './start-cancellable.ts';

/** How long a turn may take to stop by itself; then its workflow is cancelled. */
const STOP_PATIENCE = '5 seconds';

export interface SessionWork {
  readonly tenant: string;
  readonly session_key: string;
  /** Id of the message, whose row exists. */
  readonly message_id: string;
  readonly agent: string;
  readonly user?: string;
  /** Scrubbed; the web UI shows it. */
  readonly label: string;
  readonly engine?: EngineHints | undefined;
}

export interface SessionLimits {
  /** Milliseconds since 1970. */
  readonly deadline: number;
  /** Whether somebody wants it to end now, and who. */
  readonly isCancelRequested: () => boolean;
  readonly cancelRequest: () => { readonly by?: string | undefined; readonly reason?: string | undefined };
}

/** How the session's workflow ended: with a turn, or by itself. */
export interface SessionEnd {
  readonly outcome?: TurnOutcome;
  readonly problem?: string;
  readonly inTime: boolean;
}

/**
 * Resolves when the session's turns have ended, and all work that they delegated is answered. Never rejects for what
 * happens in them.
 */
export async function runSession(work: SessionWork, limits: SessionLimits): Promise<SessionEnd> {
  const scope = new CancellationScope();
  const ends: { outcome?: TurnOutcome; problem?: string } = {};
  const isOver = (): boolean => ends.outcome !== undefined || ends.problem !== undefined;
  let pending: Promise<void> = Promise.resolve();
  let inTime = true;
  try {
    const { engine, message_id } = work;
    const session = await scope.run(() => startSession(work, { assigned: turnIdOf(message_id), engine }));
    pending = session.result().then(
      (outcome) => void (ends.outcome = outcome),
      (error: unknown) => void (ends.problem = problemOf(error)),
    );
    inTime = await condition(
      () => isOver() || limits.isCancelRequested(),
      Math.max(1, limits.deadline - Date.now()),
    );
    const request = inTime ? limits.cancelRequest() : { reason: TIME_UP };
    if (!isOver()) await stopSession(stopOfWork(work.message_id, request), session, scope, isOver);
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // This workflow was cancelled: the session's turns are cancelled with it, and end in their own order.
    if (!isCancellation(error)) ends.problem = problemOf(error);
  }
  await pending;
  return { ...ends, inTime };
}

export type SessionHandle = ChildWorkflowHandle<(input: AgentTurnInput) => Promise<TurnOutcome>>;

/** Starts the session's workflow with the message as its first turn. */
export function startSession(
  { tenant, session_key: session, message_id, agent, user, label }: SessionWork,
  more: Pick<AgentTurnInput, 'assigned' | 'engine'> = {},
): Promise<SessionHandle> {
  const turnId = turnIdOf(message_id);
  const turn = { turnId, messages: [{ id: message_id, user }], preview: label };
  const carry = { queue: [turn], seen: [[message_id, turnId]] as const };
  return startCancellable(AGENT_TURN.type, {
    workflowId: sessionWorkflowId(tenant, session),
    args: [{ tenant, session_key: session, carry, ...more }],
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    staticSummary: `${agent}: ${label}`,
    typedSearchAttributes: childLabels({ tenant, session, agent, user }),
  });
}

/** Stops its turn, and cancels the workflow if that does not work. */
export async function stopSession(
  stop: StopInput,
  session: SessionHandle,
  scope: CancellationScope,
  isOver: () => boolean,
): Promise<void> {
  await session.signal(AGENT_TURN.signals.stop, stop).catch((error: unknown) => {
    // It has just ended, or is cancelled below.
    log.info('stop did not reach the session', { problem: problemOf(error) });
  });
  if (!(await condition(isOver, STOP_PATIENCE))) scope.cancel();
}

function problemOf(error: unknown): string {
  if (error instanceof WorkflowExecutionAlreadyStartedError)
    return 'somebody else spoke in its session first';
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof TerminatedFailure) return LOST_END.error.message;
  return cause instanceof Error ? cause.message.slice(0, 500) : 'unknown error';
}
