/**
 * `/v1/ui/{agent}`: a chat whose id is chosen by the front end. A chat is a session, so that it goes on after any crash
 * and whether or not somebody looks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerCalls } from '#api/answer-calls.ts';
import { argumentsOf } from '#api/call-arguments.ts';
import { refuseTakenNames } from '#api/client-tools.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableSession } from '#api/found.ts';
import { contextOf, namedId, newId } from '#api/routes/turns/messages.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { type Caller, callerOf } from '#api/server/auth.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { startTurn, wholeTurn } from '#api/start-turn.ts';
import { dataFrame, DONE_FRAME, streamTurn } from '#api/stream-turn.ts';
import { createTurnFollower, type StartedTurn } from '#api/turn-follower.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createChatChunks } from '../chat-chunks.ts';
import { type ChatRequest, chatRequestSchema, readChat, requestName } from '../chat-request.ts';

const params = z.object({ agent: nameSchema });
const chatParams = params.extend({ id: chatRequestSchema.shape.id });

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);

  app.post(
    '/v1/ui/:agent',
    {
      config: { scope: 'run', repeatable: true },
      bodyLimit: MAX_BODY_WITH_FILES,
      schema: { hide: true, params, body: chatRequestSchema },
    },
    async (request, reply) => {
      const { agent } = request.params;
      const turn = await answerOrSend(deps, request, agent, request.body);
      return stream(request, reply, turn, turn.decided);
    },
  );

  app.get(
    '/v1/ui/:agent/:id/stream',
    { config: { scope: 'read' }, schema: { hide: true, params: chatParams } },
    async (request, reply) => {
      const caller = callerOf(request);
      const session = sessionOf(request.params.id);
      const open = await reachableSession(deps.pool, caller, session);
      // What waits is in the messages that the front end has.
      if (!open?.open_turn || open.open_status === 'waiting_approval') return reply.code(204).send();
      return stream(request, reply, await wholeTurn(deps, caller, session, open.open_turn));
    },
  );

  function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    turn: StartedTurn,
    known: readonly string[] = [],
  ): Promise<void> {
    const caller = callerOf(request);
    const chunks = createChatChunks(turn.id, known);
    reply.headers({ 'x-vercel-ai-ui-message-stream': 'v1', 'x-tempoclaw-session': turn.session });
    return streamTurn(replies, request, reply, createTurnFollower(deps, caller, turn), async (news) => {
      const args = await argumentsOf(forTenant(deps.pool, caller.tenant), turn.id, news);
      const { chunks: added, pause } = chunks.take(news, args);
      return {
        frames: [...added.map(dataFrame), ...(pause ? [DONE_FRAME] : [])],
        isOver: pause !== undefined,
      };
    });
  }
}

async function answerOrSend(
  deps: ApiDeps,
  request: FastifyRequest,
  agent: string,
  body: ChatRequest,
): Promise<StartedTurn & { readonly decided?: readonly string[] }> {
  const caller = callerOf(request);
  const { text, files, ...answers } = readChat(body);
  const answered = await answerCalls(deps, caller, answers);
  if (answered) return answered;
  const { id, tools = [] } = body;
  await refuseTakenNames(deps, caller.tenant, agent, tools);
  const session = sessionOf(id);
  return startTurn(deps, caller, {
    ...messageIdOf(request, caller, body),
    session,
    text,
    files,
    mode: null,
    context: contextOf(caller, { agent, client_tools: tools.length > 0 ? tools : undefined }),
  });
}

/** A front end that was cut off sends its request again, and gets the same turn. */
function messageIdOf(request: FastifyRequest, caller: Caller, body: ChatRequest) {
  const name = request.headers['idempotency-key'] === undefined ? requestName(body) : undefined;
  if (name === undefined) return newId(request, caller, 'ui', sessionOf(body.id));
  return namedId(caller, 'ui', name);
}

function sessionOf(chat: string): string {
  return `ui-${chat}`;
}
