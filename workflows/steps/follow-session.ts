/** The run of a session that was started before the workflow whose work it is: it tells of its end by a signal. */
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
} from '@temporalio/workflow';
import { sessionWorkflowId } from '#domain/ids.ts';
import type { SessionEnded } from '#domain/subagent.ts';
import { stopOfWork, TIME_UP } from '#domain/stop-of-work.ts';
import { AGENT_TURN, type StopInput } from '#domain/turn.ts';
import { type SessionEnd, type SessionLimits, type SessionWork, STOP_PATIENCE } from './run-session.ts';

/** One that was cancelled and is still there is cancelled again after this. */
const CANCEL_PATIENCE = '1 minute';

/** Resolves when the session's turns have ended. Never rejects for what happens in them. */
export async function followSession(
  work: SessionWork,
  limits: SessionLimits,
  ended: () => SessionEnded | undefined,
): Promise<SessionEnd<SessionEnded>> {
  const isOver = (): boolean => ended() !== undefined;
  let inTime = true;
  let isCancelled = false;
  try {
    inTime = await condition(() => isOver() || limits.isAsked(), Math.max(1, limits.deadline - Date.now()));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    isCancelled = true;
  }
  const stop = stopOfWork(work.message_id, inTime ? limits.askedBy() : { reason: TIME_UP });
  if (!isOver()) await CancellationScope.nonCancellable(() => endSession(work, stop, isOver, isCancelled));
  const outcome = ended();
  return {
    outcome,
    problem: outcome?.reason,
    inTime,
  };
}

async function endSession(
  work: SessionWork,
  stop: StopInput,
  isOver: () => boolean,
  atOnce: boolean,
): Promise<void> {
  const session = getExternalWorkflowHandle(sessionWorkflowId(work.tenant, work.session_key));
  if (!atOnce) {
    await isReached(session.signal(AGENT_TURN.signals.stop, stop));
    if (await condition(isOver, STOP_PATIENCE)) return;
  }
  // Who cannot be cancelled is not there any more, and has not said so.
  while ((await isReached(session.cancel())) && !(await condition(isOver, CANCEL_PATIENCE)));
}

/** The SDK has no type of its own for "there is no such running workflow", which is the one thing that goes wrong here. */
async function isReached(asked: Promise<void>): Promise<boolean> {
  try {
    await asked;
    return true;
  } catch (error) {
    log.info('the session was not reached', { problem: error instanceof Error ? error.message : '' });
    return false;
  }
}
