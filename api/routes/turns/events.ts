/** Streams the feed of a session over SSE (IN-2): it replays from the table after an id, then follows. */
import { z } from 'zod';
import { firstEventId, readEvents } from '#store/event-store.ts';
import type { StoredEvent } from '#domain/event.ts';
import { Failure } from '#domain/errors.ts';
import { eventSchema } from '#domain/schema/event.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { callerOf } from '../../server/auth.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { isReachable, sessionOr404 } from '../../found.ts';
import { problems } from '../../server/openapi.ts';
import { createSharedReads } from '../../shared-reads.ts';
import { createSseReplies, lastEventId } from '../../server/sse-replies.ts';
import { sessionParams } from './messages.ts';

const PAGE = 200;

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);
  /** Readers of one session are at the same place in its feed. */
  const reads = createSharedReads<readonly StoredEvent[]>();

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
          'Replays what is kept after `Last-Event-ID` (or `?after=`), then goes on live. `id` rises by one per session; a comment comes at least every 15 seconds. 410 when what was asked for is no longer kept.',
        params: sessionParams,
        querystring: z.strictObject({
          after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
        }),
        response: {
          200: {
            description: 'Events; `data` is',
            content: { 'text/event-stream': { schema: eventSchema } },
          },
          ...problems('NotFound', 'EventsTrimmed'),
        },
      },
    },
    async (request, reply) => {
      const { tenant, confinedTo } = callerOf(request);
      const { key } = request.params;
      const requested = lastEventId(request.headers['last-event-id']) ?? request.query.after;
      const first =
        requested === undefined ? undefined : await firstEventId(forTenant(deps.pool, tenant), key);
      if (requested !== undefined && first !== undefined && requested < first - 1)
        throw new Failure('EventsTrimmed', `Events up to ${first - 1} are no longer kept; begin after that`, {
          first_id: first,
        });
      let last = requested ?? 0;
      const ended = new AbortController();
      await replies.open(request, reply, {
        ended: ended.signal,
        subscribe: (wake) =>
          deps.feed.subscribe(tenant, key, wake, (user) => {
            if (user === undefined || !isReachable(confinedTo, user)) ended.abort();
          }),
        async sendNew(write, signal) {
          for (let isMore = true; isMore && !signal.aborted; ) {
            const after = last;
            const events = await reads(JSON.stringify([tenant, key, after]), () =>
              readEvents(forTenant(deps.pool, tenant), key, after, PAGE),
            );
            for (const event of events) {
              await write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
              last = event.id;
            }
            isMore = events.length === PAGE;
          }
        },
      });
    },
  );
}
