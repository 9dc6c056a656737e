/** The activities of team tasks, and the board and messages that tools use. */
import type { TeamTaskActivities } from '#domain/team/team-task.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { createTeamBoard, type TeamBoard } from '#temporal/team-board.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { SendSystemMessage } from '../turn/send-system-message.ts';
import { createTeamService, type TeamService } from './team-service.ts';
import { createTeamTaskActivities } from './team-task-run.ts';

export interface TeamTools {
  /** The boards and messages of the teams that the caller belongs to. */
  readonly teams: TeamService;
}

export function createTeamActivities(
  parts: ActivityDeps & { readonly reach: WorkflowReach; readonly wake: SendSystemMessage },
): { readonly activities: TeamTaskActivities; readonly tools: TeamTools } & Pick<TeamBoard, 'releaseTasks'> {
  const board = createTeamBoard(parts);
  return {
    activities: createTeamTaskActivities(parts),
    tools: { teams: createTeamService({ ...parts, board }) },
    releaseTasks: board.releaseTasks,
  };
}
