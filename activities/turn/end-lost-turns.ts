/** Ends the turns of a session whose runs were ended from outside, and what they have left running, as a stop would. */
import { LOST_END } from '#domain/lost-work.ts';
import type { TurnActivities } from '#domain/turn.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import type { Pool } from '#store/pool.ts';
import { lostTurns } from '#store/turn-store.ts';

/** A younger one that waits may be on its way to its session. */
const ON_ITS_WAY_SECONDS = 60;

/** Only for a run of the session that has begun no turn yet: then none of it runs. Safe to repeat. */
export function createEndLostTurns(
  pool: Pool,
  endTurn: TurnActivities['end_turn'],
): TurnActivities['end_lost_turns'] {
  return failingAs(recordFailure, async ({ tenant, session }) => {
    for (const { id, is_last } of await lostTurns(pool, tenant, session, ON_ITS_WAY_SECONDS))
      await endTurn({
        tenant,
        session,
        turn: id,
        step: 0,
        status: 'failed',
        error: LOST_END.error,
        by: 'system',
        releaseTasks: true,
        ...(is_last ? { endCommands: true, endAssignments: true } : {}),
      });
  });
}
