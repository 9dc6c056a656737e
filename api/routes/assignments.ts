/** Lists, shows and stops work that agents delegated to others, and steers a subagent. */
import { randomUUID } from 'node:crypto';
import { ASSIGNMENT, type WorkStatus } from '#domain/assignment/assignment.ts';
import { Failure } from '#domain/errors.ts';
import { type AssignmentKind, assignmentWorkflowId } from '#domain/ids.ts';
import { delegations, subagents } from '#domain/resource/assignments.ts';
import type { SteerSubagentInput, SteerSubagentReceipt } from '#domain/assignment/subagent.ts';
import {
  type AssignmentFilter,
  type AssignmentRow,
  pageAssignments,
} from '#store/assignments/assignment-store.ts';
import { gateRows } from '#store/teams/gate-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { stopAssignment } from '#temporal/stop-assignments.ts';
import type { Caller } from '../server/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { reachableAssignment } from '../found.ts';
import { stemOf } from '../server/idempotency.ts';
import { assignmentsToStop } from '../lost-work.ts';
import { type Page, type PageQuery, readTimePage } from '../server/pages.ts';
import { type Call, serveResource } from '../serve-resource.ts';
import { createTemporalLink, type TemporalLink } from '../temporal-links.ts';

type StopCall = Pick<
  Call<(typeof subagents.operations)['stopSubagent']>,
  'caller' | 'tenant' | 'by' | 'params' | 'body'
>;

/** What routes of each kind of assignment do alike. */
export function createAssignmentRoutes(deps: ApiDeps) {
  const { pool } = deps;
  const toStop = assignmentsToStop(deps);
  const finderOf = (kind: AssignmentKind) => (caller: Caller, id: string) =>
    reachableAssignment(pool, caller, kind, id);
  const currentOf = async (kind: AssignmentKind, caller: Caller, id: string) => {
    const row = await reachableAssignment(pool, caller, kind, id);
    return row && toStop.lost.current(caller.tenant, row);
  };
  const stopOf =
    <Status>(kind: AssignmentKind) =>
    async ({ caller, tenant, by, params, body }: StopCall) => {
      const row = await reachableAssignment(pool, caller, kind, params.id);
      if (!row) return undefined;
      const { text } = await deps.secrets.vault.scrubberOf(tenant);
      const reason = body.reason && text(body.reason);
      if (!(await stopAssignment(toStop, tenant, row, { by, reason }))) throw notRunning(row);
      return { id: row.id, status: row.status as Status };
    };
  return { link: createTemporalLink(deps.settings), finderOf, currentOf, stopOf };
}

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const { link, finderOf, currentOf, stopOf } = createAssignmentRoutes(deps);

  serveResource(
    app,
    delegations,
    {
      listDelegations({ caller, query }) {
        const { source, target, session_key: session, status } = query;
        const filter = {
          kind: 'delegation',
          source,
          target,
          session,
          status,
          user: caller.confinedTo,
        } as const;
        return pageOfAssignments(deps, caller.tenant, query, filter, (row) => showDelegation(row, link));
      },
      async getDelegation({ caller, db, params }) {
        const row = await currentOf('delegation', caller, params.id);
        if (!row) return undefined;
        const checks = await gateRows(db, row.id);
        return {
          ...showDelegation(row, link),
          checks: checks.map((check) => ({ ...check, gate: check.name, at: new Date(check.created_at) })),
        };
      },
      stopDelegation: stopOf<WorkStatus>('delegation'),
    },
    finderOf('delegation'),
  );

  serveResource(
    app,
    subagents,
    {
      async getSubagent({ caller, params }) {
        const row = await currentOf('subagent', caller, params.id);
        return row && showSubagent(row, link);
      },
      stopSubagent: stopOf<WorkStatus>('subagent'),
      async steerSubagent({ caller, tenant, by, params, body, request }) {
        const row = await reachableAssignment(pool, caller, 'subagent', params.id);
        if (!row) return undefined;
        // It goes on with the rights of the person for whom it was started.
        if (caller.user !== null && row.user_id !== caller.user)
          throw new Failure(
            'Forbidden',
            `subagent "${row.id}" works for another person, who alone may steer it`,
          );
        if (row.ended_at !== null) throw notRunning(row);
        const scrubber = await deps.secrets.vault.scrubberOf(tenant);
        const input: SteerSubagentInput = { message: scrubber.text(body.message), by };
        const receipt = await deps.temporal.update<SteerSubagentReceipt>(
          assignmentWorkflowId('subagent', row.id),
          ASSIGNMENT.updates.steer,
          input,
          stemOf(request, caller, 'steer', row.id) ?? randomUUID(),
        );
        if (!receipt) throw notRunning(row);
        return { id: row.id, replaced_by: receipt.replaced_by };
      },
    },
    finderOf('subagent'),
  );
}

/** Assignments whose workflow was ended from outside appear as over. */
export function pageOfAssignments<Shown>(
  deps: ApiDeps,
  tenant: string,
  query: PageQuery,
  filter: AssignmentFilter,
  show: (row: AssignmentRow) => Shown,
): Promise<Page<Shown>> {
  const { pool, lost } = assignmentsToStop(deps);
  return readTimePage(
    query,
    async (limit, after) =>
      lost.currents(tenant, await pageAssignments(forTenant(pool, tenant), filter, limit, after)),
    (row) => [row.created_at.replace('T', ' '), row.id],
    show,
  );
}

function notRunning({ kind, id, status, ended_at }: AssignmentRow): Failure {
  const name = kind === 'evaluation' ? 'evaluate loop' : kind;
  const how = ended_at === null ? '' : ` (status=${status})`;
  return new Failure('Conflict', `${name} "${id}" is not running${how}`);
}

/** Fields of every kind of assignment. */
export function sharedFields(row: AssignmentRow, link: TemporalLink) {
  const workflowId = assignmentWorkflowId(row.kind, row.id);
  return {
    ...row,
    workflow_id: workflowId,
    user: row.user_id,
    usage: row,
    links: { temporal: link(workflowId) },
    created_at: new Date(row.created_at),
    started_at: row.started_at && new Date(row.started_at),
    ended_at: row.ended_at && new Date(row.ended_at),
  };
}

function showDelegation(row: AssignmentRow, link: TemporalLink) {
  return {
    ...sharedFields(row, link),
    source: row.source_key,
    target: row.target_key,
    status: row.status as WorkStatus,
  };
}

export function showSubagent(row: AssignmentRow, link: TemporalLink) {
  return {
    ...sharedFields(row, link),
    parent_session: row.origin_session,
    parent_turn: row.origin_turn,
    parent_call: row.origin_call,
    agent: row.target_key,
    status: row.status as WorkStatus,
  };
}
