/** Puts the parts of teams together: the board that tools use, and what tasks' workflows ask of the world. */
import { createTeamBoard, type TeamBoard } from '#temporal/team-board.ts';
import { createTeamTaskActivities } from '#activities/teams/team-task-run.ts';
import type { WakeSession } from '#activities/turn/wake-session.ts';
import type { TeamTaskActivities } from '#domain/team-task.ts';
import type { WorkerParts } from './create-worker.ts';

export function createTeams(
  { pool, temporal, vault }: Pick<WorkerParts, 'pool' | 'temporal' | 'vault'>,
  wake: WakeSession,
): { readonly board: TeamBoard; readonly activities: TeamTaskActivities } {
  const shared = { pool, scrubberOf: vault.scrubberOf, reach: temporal };
  return {
    board: createTeamBoard(shared),
    activities: createTeamTaskActivities({ ...shared, wake }),
  };
}
