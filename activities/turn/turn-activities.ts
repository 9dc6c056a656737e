/** The activities of turns: model calls and ends. */
import type { TurnActivities } from '#domain/turn/turn-activities.ts';
import { hasPendingResults } from '#store/assignments/end-assignment.ts';
import { awaitsAnswer } from '#store/teams/task-gate-store.ts';
import { createReleaseAnswer } from '../gates/gate-run.ts';
import type { ForAnyTenant } from '#store/secrets/scrubber.ts';
import { hasStartedBefore, markHooked } from '#store/turns/message-store.ts';
import { sendNotice } from '#store/postgres/change-feed.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { ModelActivity } from './step-engine.ts';
import { type CallModelDeps, createCallModel } from './call-model.ts';
import { createEndLostTurns, createEndTurn, createStopSession, type EndTurnDeps } from './end-turn.ts';

export interface TurnParts
  extends ActivityDeps,
    Omit<ForAnyTenant<CallModelDeps>, 'awaitsAnswer' | 'hasStartedBefore' | 'markHooked'>,
    Pick<EndTurnDeps, 'endCommands' | 'assignments' | 'releaseTasks'> {}

export function createTurnActivities(
  parts: TurnParts,
): Omit<TurnActivities, 'call_model'> & { readonly call_model: ModelActivity } {
  const { pool } = parts;
  const endTurn = createEndTurn({
    ...parts,
    hasPending: (tenant, session) => hasPendingResults(forTenant(pool, tenant), session),
    releaseAnswer: createReleaseAnswer(pool),
  });
  return {
    call_model: createCallModel({
      ...parts,
      hasStartedBefore: (tenant, ...place) => hasStartedBefore(forTenant(pool, tenant), ...place),
      markHooked: (tenant, ...place) => markHooked(forTenant(pool, tenant), ...place),
      awaitsAnswer: (tenant, team) => awaitsAnswer(forTenant(pool, tenant), team),
    }),
    end_turn: endTurn,
    end_lost_turns: createEndLostTurns(pool, endTurn),
    hasten_stop: ({ workflow_id }) => sendNotice(pool, 'stops', workflow_id),
    stop_session: createStopSession(parts),
  };
}
