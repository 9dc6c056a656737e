/**
 * Serves the canvas of a session: a link for people, the page behind it, its changes as they come, and what it sends to
 * the agent.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CANVAS_FRAME, CANVAS_FRAME_POLICY, CANVAS_LIMITS } from '../contract.ts';
import { Failure, fieldFailure } from '#domain/errors.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import { OUTSIDE_MESSAGE } from '#domain/policy/used-tools.ts';
import { canvasLinks } from '../resource.ts';
import { canvasEventSchema } from '../schema.ts';
import { isKeyInForce } from '#store/api-key-store.ts';
import { findCanvas } from '../store.ts';
import { callerOf, userOf } from '#api/server/auth.ts';
import { callerByLink, type CanvasLink, canvasToken, noLink, openCanvasToken } from './canvas-link.ts';
import { CANVAS_PAGE, CANVAS_PAGE_POLICY } from './canvas-page.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableSession } from '#api/found.ts';
import { serveResource } from '#api/serve-resource.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { submitMessage } from '#api/submit-message.ts';
import { contextOf, idOf } from '#api/routes/turns/messages.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(
    app,
    canvasLinks,
    {
      getCanvas: async ({ db, params }) => (await findCanvas(db, params.key)) ?? { version: 0, steps: [] },
      async createCanvasLink({ caller, tenant, params, body, request }) {
        const until = Date.now() + body.seconds * 1000;
        const user = userOf(caller, body.user) ?? null;
        const link = { tenant, session: params.key, key: caller.keyId, user, until };
        if (!(await reachableSession(deps.pool, callerByLink(link, ''), params.key))) throw notOf(user);
        const base = deps.settings.publicUrl?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`;
        const url = `${base}/canvas/${canvasToken(deps.tokenSecret, link)}`;
        return { url, expires_at: new Date(until).toISOString() };
      },
    },
    (caller, key) => reachableSession(deps.pool, caller, key),
  );

  const open = { config: { scope: 'public' }, schema: { hide: true } } as const;
  app.get('/canvas/frame', open, (_request, reply) => page(reply, CANVAS_FRAME, CANVAS_FRAME_POLICY));
  app.get('/canvas/:token', open, async (request, reply) => {
    await linkOf(deps, request);
    return page(reply, CANVAS_PAGE, CANVAS_PAGE_POLICY);
  });
  addEvents(app, deps);
}

function addEvents(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);
  app.get(
    '/canvas/:token/events',
    { config: { scope: 'public' }, schema: { hide: true } },
    async (request, reply) => {
      const { tenant, session, key, until } = await linkOf(deps, request);
      let last = 0;
      await replies.open(
        request,
        reply,
        {
          subscribe: (wake) => deps.feed.subscribe(tenant, session, wake),
          async sendNew(write) {
            const db = forTenant(deps.pool, tenant);
            if (Date.now() > until || !(await isKeyInForce(db, key))) throw noLink();
            const canvas = await findCanvas(db, session);
            if (!canvas || canvas.version === last) return;
            last = canvas.version;
            const base = canvas.version - canvas.steps.length;
            await write(`event: canvas\ndata: ${JSON.stringify({ base, steps: canvas.steps })}\n\n`);
          },
        },
        key,
      );
    },
  );

  app.post(
    '/canvas/:token/events',
    {
      config: {
        scope: 'public',
        rateLimit: {
          max: CANVAS_LIMITS.eventsPerMinute,
          timeWindow: '1 minute',
          keyGenerator: (request: FastifyRequest) => `canvas ${tokenOf(request)}`,
        },
      },
      bodyLimit: CANVAS_LIMITS.event * 4,
      schema: { hide: true, body: canvasEventSchema, response: { 202: z.object({ turn_id: z.string() }) } },
    },
    async (request, reply) => {
      const { tenant, session } = await linkOf(deps, request);
      const text = JSON.stringify(request.body.data);
      if (text.length > CANVAS_LIMITS.event)
        throw fieldFailure('InvalidInput', 'body/data', `has more than ${CANVAS_LIMITS.event} characters`);
      const caller = callerOf(request);
      const { receipt } = await submitMessage(deps, tenant, {
        ...idOf(undefined),
        session,
        text: `The canvas sends:\n${markOutside({ id: randomUUID(), source: 'canvas', text })}`,
        mode: 'queue',
        context: { ...contextOf(caller, {}), read: { [OUTSIDE_MESSAGE]: 'the canvas' } },
        confinedTo: caller.confinedTo,
      });
      return reply.code(202).send({ turn_id: receipt.turn_id });
    },
  );
}

function page(reply: FastifyReply, html: string, policy: string): FastifyReply {
  return reply
    .serializer((payload) => String(payload))
    .header('content-security-policy', policy)
    .header('referrer-policy', 'no-referrer')
    .type('text/html; charset=utf-8')
    .send(html);
}

function tokenOf(request: FastifyRequest): string {
  return (request.params as { token: string }).token;
}

/** The holder of the link calls as its user, while the session and the key that made the link exist. */
async function linkOf(deps: ApiDeps, request: FastifyRequest): Promise<CanvasLink> {
  const token = tokenOf(request);
  const link = openCanvasToken(deps.tokenSecret, token, Date.now());
  if (!(await isKeyInForce(forTenant(deps.pool, link.tenant), link.key))) throw noLink();
  const caller = callerByLink(link, token);
  if (!(await reachableSession(deps.pool, caller, link.session)))
    throw new Failure('NotFound', 'The session of this link is no more');
  request.caller = caller;
  return link;
}

function notOf(user: string | null): Failure {
  return fieldFailure(
    'Unprocessable',
    'body/user',
    `the session is not one of ${user}, who would see nothing`,
  );
}
