/** What an operation does with its turn: looks whether it has ended, and stops it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { activityFailure, failingAs } from '#activities/activity-failure.ts';
import { Failure } from '#domain/errors.ts';
import { cutText } from '#domain/text/cut-text.ts';
import type { TurnOutcome } from '#domain/turn/turn.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findTurn, type TurnRow } from '#store/turns/turn-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import type { FollowedTurn, NexusActivities, TurnOutput } from './contract.ts';

/** How long one attempt follows a turn, so that a worker's places for activities are not taken by those who wait. */
const FOLLOW_MS = 10_000;
const LOOK_MS = { first: 50, max: 500 };
/** Turns that a worker follows at the same time; it only looks once at others. */
const MAX_FOLLOWED = 32;
/** Bytes of an answer: Temporal takes two megabytes, and callers in other languages less. */
const MAX_TEXT = 262_144;

export function createNexusActivities({
  pool,
  temporal,
}: {
  readonly pool: Pool;
  readonly temporal: Pick<TemporalAccess, 'stop'>;
}): NexusActivities {
  let following = 0;

  async function follow({ tenant, turn: id }: FollowedTurn): Promise<TurnOutput | null> {
    const { cancellationSignal: signal } = Context.current();
    const deadline = following <= MAX_FOLLOWED ? performance.now() + FOLLOW_MS : 0;
    for (let wait = LOOK_MS.first; ; wait = Math.min(LOOK_MS.max, wait * 1.5)) {
      const turn = await findTurn(forTenant(pool, tenant), id);
      if (!turn) throw new Failure('NotFound', 'The turn is no longer there; its conversation was forgotten');
      if (turn.ended_at) return outputOf(turn);
      if (performance.now() >= deadline) return null;
      await sleep(wait, undefined, { signal });
    }
  }

  return {
    follow_turn: failingAs(activityFailure, async (turn) => {
      following += 1;
      try {
        return await follow(turn);
      } finally {
        following -= 1;
      }
    }),
    stop_turn: failingAs(activityFailure, async ({ tenant, session, turn }) => {
      await temporal.stop(tenant, session, {
        level: 'now',
        turn_id: turn,
        by: 'nexus',
        reason: 'its Nexus operation was cancelled',
      });
    }),
  };
}

function outputOf({ id, session_key: session, status, text, error }: TurnRow): TurnOutput {
  return {
    turn_id: id,
    session,
    status: status as TurnOutcome['status'],
    text: text === null ? null : cutText(text, MAX_TEXT, `the turn ${id}`).text,
    ...(error && { error }),
  };
}
