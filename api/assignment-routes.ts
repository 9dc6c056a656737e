/** What the routes of subagents, delegations and evaluate loops share: a page, one as it is now, and ending one. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { AssignmentKind } from '#domain/assignment.ts';
import { Failure } from '#domain/errors.ts';
import { assignmentWorkflowId } from '#domain/ids.ts';
import { stopAssignmentSchema } from '#domain/schema/assignment.ts';
import { type AssignmentFilter, type AssignmentRow, pageAssignments } from '#store/assignment-store.ts';
import { stopAssignment } from '#temporal/stop-assignments.ts';
import { callerOf, signatureOf } from './auth.ts';
import type { Api, ApiDeps } from './deps.ts';
import { ASSIGNMENT_NAMES, assignmentOr404 } from './found.ts';
import { assignmentsToStop } from './lost-work.ts';
import { problems } from './openapi.ts';
import { isTimeKeys, type Page, type PageQuery, readPage } from './pages.ts';
import { createTemporalLink, type TemporalLink } from './temporal-links.ts';

const idParams = z.object({ id: z.string() });

export interface AssignmentRoutes<Shown> {
  page(
    request: FastifyRequest,
    query: PageQuery,
    filter: Omit<AssignmentFilter, 'kind'>,
  ): Promise<Page<Shown>>;
  /** One as it is now. Throws NotFound. */
  find(request: FastifyRequest): Promise<AssignmentRow>;
  show(row: AssignmentRow): Shown;
}

export function createAssignmentRoutes<Shown>(
  deps: ApiDeps,
  kind: AssignmentKind,
  show: (row: AssignmentRow, link: TemporalLink) => Shown,
): AssignmentRoutes<Shown> {
  const link = createTemporalLink(deps.settings);
  const { lost } = assignmentsToStop(deps);
  return {
    page(request, query, filter) {
      const { tenant } = callerOf(request);
      return readPage(
        query,
        async (limit, after) => {
          const from = after && isTimeKeys(after) ? after : undefined;
          const rows = await pageAssignments(deps.pool, tenant, { ...filter, kind }, limit, from);
          return lost.currents(tenant, rows);
        },
        (row) => [row.created_at.replace('T', ' '), row.id],
        (row) => show(row, link),
        isTimeKeys,
      );
    },
    find: async (request) =>
      lost.current(callerOf(request).tenant, await assignmentOr404(deps.pool, request, kind)),
    show: (row) => show(row, link),
  };
}

export function addStopRoute(
  app: Api,
  deps: ApiDeps,
  kind: AssignmentKind,
  route: {
    readonly path: string;
    readonly tag: string;
    readonly operationId: string;
    readonly description: string;
    /** Of `{id, status}`. */
    readonly receipt: z.ZodType<{ id: string; status: string }>;
  },
): void {
  app.post(
    route.path,
    {
      config: { scope: 'run', repeatable: true },
      preValidation: async (request) => void (await assignmentOr404(deps.pool, request, kind)),
      schema: {
        tags: [route.tag],
        operationId: route.operationId,
        summary: `Stop ${kind === 'evaluation' ? 'an' : 'a'} ${ASSIGNMENT_NAMES[kind]}`,
        description: route.description,
        params: idParams,
        body: stopAssignmentSchema,
        response: { 202: route.receipt, ...problems('NotFound', 'Conflict') },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const row = await assignmentOr404(deps.pool, request, kind);
      const stop = { by: signatureOf(caller), reason: request.body.reason };
      if (!(await stopAssignment(assignmentsToStop(deps), caller.tenant, row, stop))) throw notRunning(row);
      return reply.code(202).send({ id: row.id, status: row.status });
    },
  );
}

export function notRunning({ kind, id, status, ended_at }: AssignmentRow): Failure {
  const how = ended_at === null ? '' : ` (status=${status})`;
  return new Failure('Conflict', `${ASSIGNMENT_NAMES[kind]} "${id}" is not running${how}`);
}

/** Of every kind. */
export function sharedFields(row: AssignmentRow, link: TemporalLink) {
  const workflowId = assignmentWorkflowId(row.kind, row.id);
  return {
    id: row.id,
    workflow_id: workflowId,
    label: row.label,
    task: row.task,
    error: row.error,
    stopped_by: row.stopped_by,
    links: { temporal: link(workflowId) },
    created_at: isoOf(row.created_at),
    ended_at: row.ended_at && isoOf(row.ended_at),
  };
}

/** Of those that one session works on. */
export function workFields(row: AssignmentRow, link: TemporalLink) {
  return {
    ...sharedFields(row, link),
    session_key: row.session_key,
    depth: row.depth,
    user: row.user_id,
    mode: row.mode,
    result: row.result,
    iterations: row.iterations,
    usage: { input_tokens: row.input_tokens, output_tokens: row.output_tokens },
    started_at: row.started_at && isoOf(row.started_at),
  };
}

export function isoOf(time: string): string {
  return new Date(time).toISOString();
}
