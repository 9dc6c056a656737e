/** Starts an agent like the caller for a part of its work (SA-1), or says why not. */
import { ASSIGNMENT_LABEL } from '#domain/assignment/assignment.ts';
import { type LimitMet, newSubagent, subagentContext } from '#domain/assignment/new-assignment.ts';
import type { AnnounceMode } from '#domain/assignment/subagent.ts';
import type { Thinking } from '#domain/model/thinking.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { openAssignments } from '#store/assignments/assignment-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { refused } from './agent-links.ts';
import { type AssignmentDeps, assigned, assignmentIdOf, type AssignedWork, takePlace } from './take-place.ts';

export interface SpawnRequest {
  readonly task: string;
  readonly label: string;
  readonly model?: string;
  readonly thinking?: Thinking;
  readonly waits: boolean;
  readonly announce: AnnounceMode;
  readonly detached: boolean;
  readonly seconds?: number;
}

export async function spawnSubagent(
  deps: AssignmentDeps,
  call: RunningCall,
  request: SpawnRequest,
): Promise<AssignedWork> {
  const settings = deps.subagents;
  const model = request.model ?? settings.model;
  const problem = model === undefined ? undefined : settings.modelProblem(model);
  if (problem !== undefined) return refused('InvalidArgs', `model: ${problem}`);
  const scrubber = await deps.scrubberOf(call.tenant);
  const task = scrubber.text(request.task);
  const requested = {
    id: assignmentIdOf('sub', call),
    label: scrubber.preview(request.label, ASSIGNMENT_LABEL),
    task,
    model,
    thinking: request.thinking,
    mode: request.waits ? ('sync' as const) : ('async' as const),
    announce: request.announce,
    detached: request.detached,
    timeout_seconds: request.seconds ?? settings.timeoutSeconds,
    within: await call.offeredTools(),
  };
  const taken = await takePlace(deps, call, {
    id: requested.id,
    kind: 'subagent',
    decide: (origin, inUse) => newSubagent(origin, requested, inUse, settings),
    first: { text: task, context: subagentContext },
  });
  if (taken.kind === 'refused') return whyFull(deps, call, taken);
  if (taken.kind !== 'taken') return refused('Cancelled', 'the turn is over; no subagent was started');
  const work = assigned(call, taken.row, scrubber.text);
  if (work.kind === 'refused' || model !== undefined) return work;
  return { ...work, child: { ...work.child, sameModel: true } };
}

const LIMIT_WORDS: Readonly<Record<string, string>> = {
  depth: 'spawn depth limit reached',
  concurrent: 'max concurrent subagents reached',
  children: 'max children per agent reached',
};

async function whyFull(
  { pool }: Pick<AssignmentDeps, 'pool'>,
  call: RunningCall,
  { limit, have, max }: LimitMet,
): Promise<AssignedWork> {
  const words = `${LIMIT_WORDS[limit] ?? limit} (${have}/${max})`;
  if (limit === 'depth') return refused('PermissionDenied', words);
  const running = await openAssignments(forTenant(pool, call.tenant), { kind: 'subagent' });
  const own = running.filter((row) => row.origin_session === call.sessionKey);
  const others = running.length - own.length;
  const names = own.map(({ id, label }) => `${id} "${label}"`);
  if (others > 0) names.push(`${others} of other sessions`);
  return refused(
    'RateLimited',
    `${words}. Running: ${names.join(', ')}. Wait for one to end, or cancel one of yours.`,
  );
}
