/**
 * A member's turn on a team's task. It is a child workflow of the task's, so that the web UI shows task, turn and tools
 * as a tree.
 */
import { CancellationScope, condition, isCancellation, sleep, TemporalFailure } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { turnIdOf } from '#domain/ids.ts';
import { busyWait } from '#domain/team/busy-wait.ts';
import type { MemberTurnEnd } from '#domain/team/task-events.ts';
import type { MemberTurn } from '#domain/team/team-task.ts';
import type { TurnOutcome } from '#domain/turn/turn.ts';
import { type SessionHandle, startSession, stopSession } from '../run-session.ts';

export interface RunningTurn {
  readonly fence: number;
  readonly session: string;
  readonly turn: string;
  /** Set when it is over, in any way. */
  readonly end: () => Pick<MemberTurnEnd, 'status' | 'reason'> | undefined;
  /** Resolves when it is over. */
  stop(by: string, reason: string): Promise<void>;
}

/** Starts immediately and never throws: an error is the turn's end. `stop` works from the start. */
export function startMemberTurn(
  tenant: string,
  fence: number,
  { session, message_id, preview, agent, user }: MemberTurn,
): RunningTurn {
  const scope = new CancellationScope();
  const turn = turnIdOf(message_id);
  let end: Pick<MemberTurnEnd, 'status' | 'reason'> | undefined;
  let handle: SessionHandle | undefined;

  async function run(): Promise<TurnOutcome> {
    for (const began = Date.now(); ; ) {
      try {
        handle = await startSession({
          tenant,
          session_key: session,
          message_id,
          agent,
          user,
          label: preview,
        });
        return await handle.result();
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await sleep(busyWait(Date.now() - began));
      }
    }
  }

  async function follow(): Promise<Pick<MemberTurnEnd, 'status' | 'reason'>> {
    try {
      const outcome = await scope.run(run);
      return { status: outcome.status, reason: outcome.error?.message ?? outcome.preview };
    } catch (error) {
      if (!(error instanceof TemporalFailure)) throw error;
      // We cancelled it when it did not stop; otherwise it was ended from outside, and the work may be done again.
      if (isCancellation(error)) return { status: 'stopped', reason: 'its turn was cancelled' };
      const cause = error.cause instanceof Error ? error.cause : error;
      return { status: 'lost', reason: cause.message.slice(0, 500) };
    }
  }

  void follow().then((ended) => (end = ended));

  return {
    fence,
    session,
    turn,
    end: () => end,
    async stop(by, reason) {
      const isOver = (): boolean => end !== undefined;
      if (!handle) scope.cancel();
      else if (!isOver())
        await stopSession({ level: 'all', turn_id: turn, by, reason }, handle, scope, isOver);
      await condition(isOver);
    },
  };
}
