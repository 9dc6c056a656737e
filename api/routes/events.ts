/** The feed of a session over SSE. */
import { z } from 'zod';
import { eventSchema } from '#domain/schema/event.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { streamEvents } from '../event-stream.ts';
import { sessionOr404 } from '../found.ts';
import { problems } from '../openapi.ts';
import { createSseReplies, lastEventId } from '../sse-replies.ts';
import { sessionParams } from './messages.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);

  app.get(
    '/v1/sessions/:key/events',
    {
      config: { scope: 'read' },
      preValidation: async (request) => void (await sessionOr404(deps.pool, request)),
      schema: {
        tags: ['sessions'],
        operationId: 'followSession',
        summary: 'Follow a session (SSE)',
        description:
          'Replays what is kept after `Last-Event-ID` (or `?after=`), then goes on live. `id` rises by one per session; a comment comes at least every 15 seconds.',
        params: sessionParams,
        querystring: z.strictObject({
          after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
        }),
        response: {
          200: {
            description: 'Events; `data` is',
            content: { 'text/event-stream': { schema: eventSchema } },
          },
          ...problems('NotFound'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { key } = request.params;
      const after = lastEventId(request.headers['last-event-id']) ?? request.query.after ?? 0;
      await replies.open(request, reply, (response, signal) =>
        streamEvents(deps, response, {
          tenant: caller.tenant,
          session: key,
          after,
          signal,
          onError: (error) => request.log.warn({ err: error }, 'event stream ended early'),
        }),
      );
    },
  );
}
