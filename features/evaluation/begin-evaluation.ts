/** Starts rounds of making and judging (DE-4), or says why not: the caller must be linked to both agents. */
import { ASSIGNMENT_LABEL } from '#domain/assignment/assignment.ts';
import { DELEGATION_LIMITS } from '#domain/assignment/delegation.ts';
import { newEvaluation } from '#domain/assignment/new-assignment.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { refused } from './agent-links.ts';
import { type AssignmentDeps, assigned, assignmentIdOf, type AssignedWork, takePlace } from './take-place.ts';

export interface EvaluateRequest {
  readonly generator: string;
  readonly evaluator: string;
  readonly task: string;
  readonly label: string;
  readonly criteria?: string;
  readonly context?: string;
  readonly rounds: number;
}

export async function beginEvaluation(
  deps: AssignmentDeps,
  call: RunningCall,
  { generator, evaluator, criteria, context, ...request }: EvaluateRequest,
): Promise<AssignedWork> {
  for (const agent of new Set([generator, evaluator])) {
    const way = await deps.links.wayTo(call, agent);
    if (way.kind === 'refused') return way;
  }
  const scrubber = await deps.scrubberOf(call.tenant);
  const requested = {
    id: assignmentIdOf('evl', call),
    label: scrubber.preview(request.label, ASSIGNMENT_LABEL),
    task: scrubber.text(request.task),
    generator,
    evaluator,
    criteria: criteria === undefined ? undefined : scrubber.text(criteria),
    context: context === undefined ? undefined : scrubber.text(context),
    max_rounds: request.rounds,
  };
  const taken = await takePlace(deps, call, {
    id: requested.id,
    kind: 'evaluation',
    decide: (origin) => newEvaluation(origin, requested, DELEGATION_LIMITS.depth),
  });
  if (taken.kind === 'refused')
    return refused('PermissionDenied', `delegation depth limit reached (${taken.have}/${taken.max})`);
  if (taken.kind !== 'taken') return refused('Cancelled', 'the turn is over; nothing was begun');
  deps.onWrite(call.tenant, call.sessionKey);
  return assigned(call, taken.row, scrubber.text);
}
