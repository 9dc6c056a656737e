/** Starts rounds of making and judging (DE-4), or says why not: the caller must be linked to both agents. */
import { ASSIGNMENT_LABEL } from '#domain/assignment/assignment.ts';
import { DELEGATION_LIMITS } from '#domain/assignment/delegation.ts';
import { limitMet, rowOf } from '#domain/assignment/new-assignment.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { takeAssignment } from '#store/assignments/take-assignment.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import type { TeamBoardDeps } from '#temporal/team-board.ts';
import { type AgentLinks, refused } from '#activities/assignments/agent-links.ts';
import { findNamedTask } from '#activities/assignments/linked-task.ts';
import { assigned, assignmentIdOf, type AssignedWork } from '#activities/assignments/take-place.ts';

export interface EvaluateRequest {
  readonly generator: string;
  readonly evaluator: string;
  readonly task: string;
  readonly label: string;
  readonly criteria?: string;
  readonly context?: string;
  readonly rounds: number;
  /** The task of a team's board that the result is for. */
  readonly taskId: string | undefined;
}

export interface Evaluations {
  /** Safe to repeat: a call starts them once. */
  begin(call: RunningCall, request: EvaluateRequest): Promise<AssignedWork>;
}

export async function beginEvaluation(
  deps: TeamBoardDeps & Pick<ActivityDeps, 'onWrite'> & { readonly links: Pick<AgentLinks, 'wayTo'> },
  call: RunningCall,
  { generator, evaluator, criteria, context, taskId, ...request }: EvaluateRequest,
): Promise<AssignedWork> {
  for (const agent of new Set([generator, evaluator])) {
    const way = await deps.links.wayTo(call, agent);
    if (way.kind === 'refused') return way;
  }
  const id = assignmentIdOf('evl', call);
  const linked =
    taskId === undefined ? undefined : await findNamedTask(deps, call, { id, target: generator, taskId });
  if (linked && 'kind' in linked) return linked;
  const scrubber = await deps.scrubberOf(call.tenant);
  const label = scrubber.preview(request.label, ASSIGNMENT_LABEL);
  const task = scrubber.text(request.task);
  const details = {
    evaluator,
    criteria: criteria === undefined ? undefined : scrubber.text(criteria),
    context: context === undefined ? undefined : scrubber.text(context),
    max_rounds: request.rounds,
  };
  const taken = await takeAssignment(forTenant(deps.pool, call.tenant), call, {
    id,
    kind: 'evaluation',
    decide(origin) {
      const depth = origin.context.delegation?.depth ?? 0;
      return (
        limitMet('depth', depth, DELEGATION_LIMITS.depth) ?? {
          ...rowOf('evaluation', origin, { id, label, task }),
          target_key: generator,
          depth: depth + 1,
          details,
          linked_task: linked ?? null,
          status: 'running',
        }
      );
    },
    started: {
      type: 'evaluation.started',
      data: {
        evaluation_id: id,
        label,
        generator,
        evaluator,
        call_id: call.callId,
        max_rounds: request.rounds,
      },
    },
  });
  if (taken.kind === 'refused')
    return refused('PermissionDenied', `delegation depth limit reached (${taken.have}/${taken.max})`);
  if (taken.kind !== 'taken') return refused('Cancelled', 'the turn is over; nothing was begun');
  deps.onWrite(call.tenant, call.sessionKey);
  return assigned(call, taken.row, scrubber.text);
}
