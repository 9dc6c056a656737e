/** Shows a team's task as the API answers it; the lease has no token. */
import type { z } from 'zod';
import type { TeamTaskRow } from '#store/teams/team-task-store.ts';
import type { taskSchema } from '#domain/schema/team-task.ts';
import { taskIdOf, taskWorkflowId } from '#domain/team/team.ts';
import type { TemporalLink } from './temporal-links.ts';

export function showTask(tenant: string, row: TeamTaskRow, link: TemporalLink) {
  const { team_key: team, number, state } = row;
  const workflowId = taskWorkflowId(tenant, team, number);
  const { lease, question, open_blockers } = state;
  return {
    ...row,
    id: taskIdOf(team, number),
    team,
    workflow_id: workflowId,
    lease: lease && {
      ...lease,
      until: lease.until === null ? null : new Date(lease.until),
      session_key: lease.session,
    },
    blocked_by: row.blocked_by.map((one) => taskIdOf(team, one)),
    waiting_for: open_blockers.map((one) => taskIdOf(team, one)),
    question: question && question.preview,
    judging: Boolean(state.judging),
    last_refused: row.last_refused as z.infer<typeof taskSchema>['last_refused'],
    session_key: row.origin_session,
    turn_id: row.origin_turn,
    links: { temporal: link(workflowId) },
  };
}
