/** Lets an agent do one thing in a session of its own: its part of a round, or a gate's judgement. */
import { ActivityFailure, isCancellation } from '@temporalio/workflow';
import { runSession, type SessionLimits, type SessionWork } from './run-session.ts';

export interface AgentWork extends Omit<SessionWork, 'session_key' | 'message_id'> {
  /** Writes the instructions; undefined when they are no longer wanted. */
  readonly prepare: () => Promise<Pick<SessionWork, 'session_key' | 'message_id'> | undefined>;
  readonly seconds: number;
  readonly limits: SessionLimits;
}

/** Undefined when the agent has answered; otherwise the reason why not. */
export async function askAgent({
  prepare,
  seconds,
  limits,
  ...work
}: AgentWork): Promise<string | undefined> {
  try {
    const place = await prepare();
    if (!place) return STOPPED;
    const deadline = Math.min(limits.deadline, Date.now() + seconds * 1000);
    const { outcome, problem, inTime } = await runSession({ ...work, ...place }, { ...limits, deadline });
    if (outcome?.status === 'completed') return undefined;
    if (!inTime) return `it did not answer within ${seconds} s`;
    return outcome?.error?.message ?? problem ?? STOPPED;
  } catch (error) {
    // A missing agent is a result too; the caller decides what follows from it.
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return error.cause?.message ?? error.message;
  }
}

const STOPPED = 'it was stopped';
