/**
 * Delegates work to another agent (DE-1, DE-2) over a link, with the results and files that it builds on, or says why
 * not.
 */
import { basename } from 'node:path';
import type { AgentConfig } from '#domain/agent.ts';
import { LINK_WORDS } from '#domain/assignment/agent-link.ts';
import { ASSIGNMENT_LABEL } from '#domain/assignment/assignment.ts';
import type { AssignmentMode } from '#domain/assignment/delegation.ts';
import { DELEGATION_LIMITS } from '#domain/assignment/delegation.ts';
import { gatesFor } from '#domain/gate/gate.ts';
import { delegatedTask } from '#domain/assignment/delegation-words.ts';
import { newDelegation, workContext } from '#domain/assignment/new-assignment.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { findAgent } from '#store/agent-store.ts';
import { type AssignmentRow, findAssignment } from '#store/assignments/assignment-store.ts';
import { noteOutsideFiles } from '#store/files/outside-file-store.ts';
import type { TakenPlace } from '#store/assignments/take-assignment.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { refused } from './agent-links.ts';
import { type AssignmentDeps, assigned, assignmentIdOf, type AssignedWork, takePlace } from './take-place.ts';
import { type Dependency, readDependencyFiles } from './dependency-files.ts';
import { findNamedTask, newTaskFor } from './linked-task.ts';
import type { Workspace } from '../workspace/workspace-folder.ts';
import { type PassedFile, passedPath, writePassedFiles } from './pass-files.ts';

export interface DelegateRequest {
  readonly target: string;
  readonly task: string;
  readonly label: string;
  readonly context?: string;
  readonly mode: AssignmentMode;
  readonly seconds: number;
  /** Own delegations whose results are passed with the task. */
  readonly dependsOn: readonly string[];
  /** The task of a team's board that the work is. */
  readonly taskId: string | undefined;
  readonly files: readonly PassedFile[];
}

export async function delegateWork(
  deps: AssignmentDeps,
  call: RunningCall,
  request: DelegateRequest,
): Promise<AssignedWork> {
  const { tenant } = call;
  const { target, context } = request;
  const way = await deps.links.wayTo(call, target);
  if (way.kind === 'refused') return way;
  const id = assignmentIdOf('del', call);
  const linked =
    request.taskId === undefined
      ? await newTaskFor(deps, call, target)
      : await findNamedTask(deps, call, { ...request, id });
  if (linked && 'kind' in linked) return linked;
  const dependencies = await resultsOf(deps, call, request.dependsOn);
  if (typeof dependencies === 'string') return refused('InvalidArgs', dependencies);
  const theirs = await readDependencyFiles(deps.files, dependencies, request.files);
  const files = [...request.files, ...theirs.read];
  const scrubber = await deps.scrubberOf(tenant);
  const task = scrubber.text(request.task);
  const requested = {
    ...way,
    id,
    target,
    label: scrubber.preview(request.label, ASSIGNMENT_LABEL),
    task,
    mode: request.mode,
    timeout_seconds: request.seconds,
    linked_task: linked,
    gates: [...way.gates, ...gatesFor(linked && way.agent.quality_gates, 'task.completed')],
  };
  const text = delegatedTask({
    from: call.agent,
    task,
    context: context === undefined ? undefined : scrubber.text(context),
    dependencies,
    files: files.map((file) => passedPath(id, file)),
    leftOut: theirs.leftOut,
  });
  const taken = await takePlace(deps, call, {
    id,
    kind: 'delegation',
    link: way.link,
    target,
    decide: (origin, inUse) => newDelegation(origin, requested, inUse, DELEGATION_LIMITS.depth),
    first: { text, context: workContext },
  });
  if (taken.kind !== 'taken') return whyNotTaken(taken, target);
  const workspace = workspaceOfWork(deps, call, way.agent, taken.row);
  const read = call.origins?.known() ?? {};
  const place = { tenant, workspaces: [basename(workspace.workspace)] };
  if (Object.keys(read).length > 0)
    await noteOutsideFiles(
      deps.pool,
      place,
      files.map((file) => passedPath(id, file)),
      read,
    );
  await writePassedFiles(deps.files, scrubber, { ...workspace, delegationId: id }, files);
  return assigned(call, taken.row, scrubber.text);
}

/** Returns a text when one of them does not exist. */
async function resultsOf(
  deps: Pick<AssignmentDeps, 'pool' | 'workspaceOf'>,
  call: RunningCall,
  ids: readonly string[],
): Promise<readonly (Dependency & { readonly label: string })[] | string> {
  const db = forTenant(deps.pool, call.tenant);
  const rows = await Promise.all(ids.map((id) => findAssignment(db, id)));
  const results: (Dependency & { readonly label: string })[] = [];
  for (const [index, row] of rows.entries()) {
    if (row?.kind !== 'delegation' || row.source_key !== call.agent || row.user_id !== call.user)
      return `depends_on: delegation "${ids[index]}" not found`;
    if (row.status !== 'completed')
      return `depends_on: delegation "${row.id}" has no result (status=${row.status})`;
    const { id, label, result } = row;
    const agent = await findAgent(db, row.target_key);
    const workspace = agent && workspaceOfWork(deps, call, agent.config, row);
    results.push({ id, label, result: result ?? '', workspace: undefined, ...workspace });
  }
  return results;
}

/** The workspace in which the target works. */
function workspaceOfWork(
  { workspaceOf }: Pick<AssignmentDeps, 'workspaceOf'>,
  { tenant, fork }: Pick<RunningCall, 'tenant' | 'fork'>,
  agent: AgentConfig,
  { session_key: session, user_id }: Pick<AssignmentRow, 'session_key' | 'user_id'>,
): Workspace {
  return workspaceOf(tenant, agent, { session, user: user_id ?? undefined, fork });
}

function whyNotTaken(taken: Exclude<TakenPlace, { kind: 'taken' }>, target: string): AssignedWork {
  if (taken.kind === 'gone') return refused('PermissionDenied', LINK_WORDS.noLink(target));
  if (taken.kind === 'over') return refused('Cancelled', 'the turn is over; nothing was delegated');
  const { limit, have, max } = taken;
  if (limit === 'depth')
    return refused('PermissionDenied', `delegation depth limit reached (${have}/${max})`);
  const words = limit === 'link' ? LINK_WORDS.linkFull : LINK_WORDS.agentFull;
  return refused('RateLimited', words(target, have, max));
}
