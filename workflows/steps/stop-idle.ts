/**
 * A stop of a whole session whose turn is already over: it ends what the session has left running. The handler only
 * records it. The workflow performs it between turns, so that it never affects what another turn has started.
 */
import { CancellationScope, proxyLocalActivities, setCurrentDetails } from '@temporalio/workflow';
import { isStop } from '#domain/turn/submit-problem.ts';
import type { AgentTurnInput, StopInput } from '#domain/turn/turn.ts';
import type { TurnActivities } from '#domain/turn/turn-activities.ts';
import { RECORD } from '../activity-options.ts';

export interface IdleStop {
  /** False when it is not such a stop, a turn runs or waits, or it names another turn than the last of this run. */
  take(payload: StopInput): boolean;
  turnEnded(turnId: string): void;
  /** It stops all of the session, and names the last turn of this run, which is over. */
  isOfLast(payload: StopInput): boolean;
  isRequired(): boolean;
  /** True also for a stop of less than all: a waiting run ends. */
  isRequested(): boolean;
  /**
   * Resolves to true when it is done. Call it only when it is wanted: a run without such a stop must not wait at all.
   */
  carryOut(): Promise<true>;
}

export function createIdleStop(input: AgentTurnInput, isIdle: () => boolean): IdleStop {
  let required: StopInput | undefined;
  let isRequested = false;
  let last: string | undefined;
  return {
    take(payload) {
      if (!isStop(payload) || payload.level === 'step' || !isIdle()) return false;
      if (last !== undefined && payload.turn_id !== last) return false;
      isRequested = true;
      if (payload.level === 'all') required = payload;
      return true;
    },
    turnEnded(turnId) {
      last = turnId;
    },
    isOfLast: (payload) =>
      isStop(payload) && payload.level === 'all' && last !== undefined && payload.turn_id === last,
    isRequired: () => required !== undefined,
    isRequested: () => isRequested,
    async carryOut() {
      setCurrentDetails('Ends what the session has left running');
      const { stop_session } = proxyLocalActivities<TurnActivities>(RECORD);
      while (required !== undefined) {
        const by = required.by ?? 'system';
        required = undefined;
        await CancellationScope.nonCancellable(() =>
          stop_session({ tenant: input.tenant, session: input.session_key, by }),
        );
      }
      return true;
    },
  };
}
