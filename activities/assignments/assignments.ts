/**
 * Work that agents give each other, for the tools spawn and delegate: giving it, finding the caller's
 * own, and reaching its workflows. Every method is limited to the caller's tenant.
 */
import { ASSIGNMENT, type WorkKind } from '#domain/assignment/assignment.ts';
import { Failure } from '#domain/errors.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import type { SteerSubagentInput, SteerSubagentReceipt } from '#domain/assignment/subagent.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import {
  type AssignmentFilter,
  type AssignmentRow,
  findAssignment,
  pageAssignments,
} from '#store/assignments/assignment-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { stopAssignment, stopAssignments } from '#temporal/stop-assignments.ts';
import { delegateWork, type DelegateRequest } from './delegate-work.ts';
import { spawnSubagent, type SpawnRequest } from './spawn-subagent.ts';
import type { AssignmentDeps, AssignedWork } from './take-place.ts';

type Caller = Pick<RunningCall, 'tenant' | 'agent' | 'user' | 'sessionKey' | 'callId'>;

export interface Assignments {
  /** Each is safe to repeat: a call gives one piece of work. */
  spawn(call: RunningCall, request: SpawnRequest): Promise<AssignedWork>;
  delegate(call: RunningCall, request: DelegateRequest): Promise<AssignedWork>;
  /** Subagents of the caller's session that are not archived, newest first. */
  subagents(caller: Pick<Caller, 'tenant' | 'sessionKey'>): Promise<readonly AssignmentRow[]>;
  /** Delegations of the caller's agent and user, newest first. */
  delegations(
    caller: Pick<Caller, 'tenant' | 'agent' | 'user'>,
    filter: Pick<AssignmentFilter, 'target' | 'status' | 'session'>,
    limit: number,
    after?: readonly [string, string],
  ): Promise<readonly AssignmentRow[]>;
  /** Finds subagents only of the caller's session, and delegations only of its agent and user. */
  find(caller: Caller, kind: WorkKind, id: string): Promise<AssignmentRow | undefined>;
  /** Sends no message to the caller's session, which already knows. False when it has ended. */
  stop(caller: Caller, row: AssignmentRow): Promise<boolean>;
  /** Ends all work that a stopped session gave, except detached work. */
  stopAll(tenant: string, session: string, by: string): Promise<void>;
  /** False when it ended first. */
  steer(caller: Pick<Caller, 'tenant' | 'callId'>, row: AssignmentRow, message: string): Promise<boolean>;
}

export function createAssignments(deps: AssignmentDeps): Assignments {
  const { pool, reach, lost, subagents } = deps;
  return {
    spawn: (call, request) => spawnSubagent(deps, call, request),
    delegate: (call, request) => delegateWork(deps, call, request),

    async subagents({ tenant, sessionKey: session }) {
      const filter = { kind: 'subagent', session, withinMinutes: subagents.archiveMinutes } as const;
      return lost.currents(tenant, await pageAssignments(forTenant(pool, tenant), filter, MAX_LISTED));
    },

    async delegations({ tenant, agent, user }, filter, limit, after) {
      const own = { ...filter, kind: 'delegation', source: agent, user } as const;
      return lost.currents(tenant, await pageAssignments(forTenant(pool, tenant), own, limit, after));
    },

    async find({ tenant, agent, user, sessionKey }, kind, id) {
      const row = await findAssignment(forTenant(pool, tenant), id);
      if (row?.kind !== kind) return undefined;
      const isOwn =
        kind === 'subagent'
          ? row.origin_session === sessionKey
          : row.source_key === agent && row.user_id === user;
      return isOwn ? lost.current(tenant, row) : undefined;
    },

    stop: ({ tenant, sessionKey, callId }, row) =>
      stopAssignment(deps, tenant, row, { by: callId, silent: row.origin_session === sessionKey }),

    async stopAll(tenant, session, by) {
      await stopAssignments(deps, tenant, session, by);
    },

    async steer({ tenant, callId }, row, message) {
      const input: SteerSubagentInput = {
        message: (await deps.scrubberOf(tenant)).text(message),
        by: callId,
      };
      try {
        const receipt = await reach.update<SteerSubagentReceipt>(
          assignmentWorkflowId(row.kind, row.id),
          ASSIGNMENT.updates.steer,
          input,
          callId,
        );
        return receipt !== undefined;
      } catch (error) {
        if (error instanceof Failure && error.type === 'Conflict') return false;
        throw error;
      }
    },
  };
}

const MAX_LISTED = 200;
