/** Dependencies of giving work, and the slot that each piece of work takes. */
import { createHash } from 'node:crypto';
import type { SpawnLimits } from '#domain/assignment/new-assignment.ts';
import type { ChildStart } from '#domain/turn/turn-activities.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { AssignmentRow } from '#store/assignments/assignment-store.ts';
import { type PlaceRequest, takeAssignment, type TakenPlace } from '#store/assignments/take-assignment.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { assignmentChild } from '#temporal/assignment-inputs.ts';
import type { LostWork } from '#temporal/lost-work.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import type { Files } from '../workspace/contract.ts';
import type { WorkspaceOf } from '../workspace/workspace-folder.ts';
import type { AgentLinks, Refused } from './agent-links.ts';

export interface AssignmentDeps extends ActivityDeps {
  readonly reach: WorkflowReach;
  readonly links: AgentLinks;
  readonly files: Pick<Files, 'change' | 'readBytes' | 'list'>;
  readonly workspaceOf: WorkspaceOf;
  readonly subagents: SubagentSettings;
  /** Finds assignments whose workflow was ended from outside. */
  readonly lost: LostWork;
}

export interface SubagentSettings extends SpawnLimits {
  readonly archiveMinutes: number;
  readonly timeoutSeconds: number;
  readonly model?: string;
  /** Undefined when the model exists; otherwise the reason. */
  readonly modelProblem: (ref: string) => string | undefined;
}

export type AssignedWork =
  | { readonly kind: 'assigned'; readonly row: AssignmentRow; readonly child: ChildStart }
  | Refused;

/** Before a refusal, slots of work that was ended from outside are freed. */
export async function takePlace(
  { pool, lost }: AssignmentDeps,
  call: RunningCall,
  required: PlaceRequest,
): Promise<TakenPlace> {
  const db = forTenant(pool, call.tenant);
  const taken = await takeAssignment(db, call, required);
  const mayBeFreed = taken.kind === 'refused' && taken.limit !== 'depth';
  return mayBeFreed && (await lost.sweep(call.tenant)) > 0 ? takeAssignment(db, call, required) : taken;
}

export function assigned(
  { tenant }: Pick<RunningCall, 'tenant'>,
  row: AssignmentRow,
  hide: (text: string) => string,
): AssignedWork {
  return { kind: 'assigned', row, child: assignmentChild(tenant, row, hide) };
}

/** Derived from the call, so that a repeated call gives the work once. */
export function assignmentIdOf(
  prefix: 'sub' | 'del' | 'evl',
  { tenant, callId }: Pick<RunningCall, 'tenant' | 'callId'>,
): string {
  return `${prefix}-${createHash('sha256').update(`${tenant}\n${callId}`).digest('hex').slice(0, 16)}`;
}
