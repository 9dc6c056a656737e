/** Streams the approvals of all sessions over SSE, for inboxes. */
import { z } from 'zod';
import { approvalFilterShape, approvalSchema } from '#domain/schema/approval.ts';
import { readApprovalFilter } from '../../approvals/approval-filter.ts';
import { createApprovalWatch } from '../../approvals/approval-watch.ts';
import { approvalSource } from '../../approvals/approval-stream.ts';
import { callerOf } from '../../server/auth.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { problems } from '../../server/openapi.ts';
import { showApproval } from '../../approvals/show-approval.ts';
import { encodeAnswer } from '../../server/answer.ts';
import { createSseReplies, lastEventId } from '../../server/sse-replies.ts';
import { createTemporalLink } from '../../temporal-links.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const watch = createApprovalWatch(deps, (error) =>
    app.log.warn({ err: error }, 'whether approvals have changed could not be read'),
  );
  const replies = createSseReplies(app, deps);
  const link = createTemporalLink(deps.settings);
  const { session_key, agent, tool, user, mine } = approvalFilterShape;

  app.get(
    '/v1/approvals/events',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['approvals'],
        operationId: 'followApprovals',
        summary: 'Follow the approvals of all sessions (SSE)',
        description:
          'Begins with what is pending, or after `Last-Event-ID` (or `?after=`); then sends each approval, whole, whenever it changes. One may come twice: the newest counts. A comment comes at least every 15 seconds.',
        querystring: z.strictObject({
          after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
          session_key,
          agent,
          tool,
          user,
          mine,
        }),
        response: {
          200: { description: 'Approvals', content: { 'text/event-stream': { schema: approvalSchema } } },
          ...problems(),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const after = lastEventId(request.headers['last-event-id']) ?? request.query.after;
      const source = approvalSource(
        { ...deps, watch },
        {
          tenant: caller.tenant,
          viewer: caller,
          filter: readApprovalFilter(request.query),
          after,
          show: (row) => encodeAnswer(approvalSchema, showApproval(row, link)),
        },
      );
      await replies.open(request, reply, source);
    },
  );
}
