/** Approvals: what waits for a person, and the decision. */
import { z } from 'zod';
import { listApprovals, listDecisions } from '#store/approval-store.ts';
import {
  approvalDetailSchema,
  approvalFilterShape,
  approvalSchema,
  bulkDecisionSchema,
  bulkReceiptSchema,
  decisionReceiptSchema,
  decisionSchema,
} from '#domain/schema/approval.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { readApprovalFilter } from '../approval-filter.ts';
import { callerOf } from '../auth.ts';
import { decideAs } from '../decide-as.ts';
import { decideMany } from '../decide-many.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { approvalOr404 } from '../found.ts';
import { stemOf } from '../idempotency.ts';
import { problems } from '../openapi.ts';
import { isTimeKeys, readPage } from '../pages.ts';
import { showApproval } from '../show-approval.ts';
import { createTemporalLink, type TemporalLink } from '../temporal-links.ts';

const idParams = z.object({ id: z.string() });

export function addApprovalRoutes(app: Api, deps: ApiDeps): void {
  const link = createTemporalLink(deps.settings);
  addReads(app, deps, link);
  addBulk(app, deps);

  app.post(
    '/v1/approvals/:id/decision',
    {
      config: { scope: 'approve', repeatable: true },
      preValidation: async (request) => void (await approvalOr404(deps.pool, request)),
      schema: {
        tags: ['approvals'],
        operationId: 'decideApproval',
        summary: 'Decide an approval',
        description:
          'The first valid decision wins; where the rule has a quorum, it is pending with a `tally` until enough people agree to the same arguments. Who decides is told by the key. The same decision again is 200 with `already`; another one, and a second edit or response, 409.',
        params: idParams,
        body: decisionSchema,
        response: {
          200: decisionReceiptSchema,
          ...problems(
            'NotFound',
            'AlreadyDecided',
            'Conflict',
            'ApprovalExpired',
            'ApprovalWithdrawn',
            'Unprocessable',
          ),
        },
      },
    },
    async (request) => {
      const approval = await approvalOr404(deps.pool, request);
      const caller = callerOf(request);
      const key = stemOf(request, caller, 'decision', approval.id);
      return decideAs(deps, caller, approval, request.body, key);
    },
  );
}

function addBulk(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/approvals/decisions',
    {
      config: { scope: 'approve', repeatable: true },
      schema: {
        tags: ['approvals'],
        operationId: 'decideApprovals',
        summary: 'Decide up to 100 approvals',
        description:
          'Each has an outcome of its own: a receipt, or the error that a single decision would have got. The answer is 200 whatever they are.',
        body: bulkDecisionSchema,
        response: { 200: bulkReceiptSchema, ...problems() },
      },
    },
    async (request) => decideMany(deps, callerOf(request), request.body),
  );
}

function addReads(app: Api, deps: ApiDeps, link: TemporalLink): void {
  app.get(
    '/v1/approvals',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['approvals'],
        operationId: 'listApprovals',
        summary: 'List approvals, newest first',
        description:
          'A key with a user sees what is its user’s or nobody’s, and what names it as an approver; other keys see the tenant’s.',
        querystring: z.strictObject({ ...pageQuery, ...approvalFilterShape }),
        response: { 200: pageSchema(approvalSchema), ...problems() },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      return readPage(
        request.query,
        (limit, after) =>
          listApprovals(
            deps.pool,
            caller.tenant,
            caller,
            readApprovalFilter(request.query),
            limit,
            after && isTimeKeys(after) ? after : undefined,
          ),
        (row) => [row.created_text, row.id],
        (row) => showApproval(row, link),
        isTimeKeys,
      );
    },
  );

  app.get(
    '/v1/approvals/:id',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['approvals'],
        operationId: 'getApproval',
        summary: 'Get an approval with its decisions',
        params: idParams,
        response: { 200: approvalDetailSchema, ...problems('NotFound') },
      },
    },
    async (request) => {
      const row = await approvalOr404(deps.pool, request);
      const decisions = await listDecisions(deps.pool, callerOf(request).tenant, row.id);
      return {
        ...showApproval(row, link),
        decisions: decisions.map((one) => ({ ...one, at: one.at.toISOString() })),
      };
    },
  );
}
