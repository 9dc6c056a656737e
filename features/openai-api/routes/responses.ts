/** `/v1/responses`: a response is what a turn writes until it ends or waits for its client. */
import { z } from 'zod';
import type { FastifyRequest } from 'fastify';
import type { Api, ApiDeps } from '#api/deps.ts';
import { reachableTurn } from '#api/found.ts';
import { endOf } from '#api/routes/turns/messages.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { type Caller, callerOf, signatureOf } from '#api/server/auth.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { dataFrame, streamTurn } from '#api/stream-turn.ts';
import { createTurnFollower, followUntil, type StartedTurn } from '#api/turn-follower.ts';
import { hasEnded } from '#api/turn-wait.ts';
import { Failure } from '#domain/errors.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';
import { type ClientRequest, continueConversation, keepAnswer } from '../start-turn.ts';
import { sendOpenaiError } from '../openai-error.ts';
import { createResponseOutput, readResponseId } from '../response-output.ts';
import {
  readResponsesRequest,
  responsesRequestSchema,
  type ResponsesRequest,
} from '../requests/responses.ts';
import { namedSession } from '../requests/session-header.ts';
import type { TurnPause } from '#api/turn-pause.ts';
import { nameTurn } from './chat-completions.ts';

const params = z.object({ id: z.string().max(300) });

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);

  app.post(
    '/v1/responses',
    {
      config: { scope: 'run', repeatable: true },
      bodyLimit: MAX_BODY_WITH_FILES,
      errorHandler: sendOpenaiError,
      schema: { hide: true, body: responsesRequestSchema },
    },
    async (request, reply) => {
      const { body } = request;
      const client: ClientRequest = { deps, caller: callerOf(request), request };
      const conversation = readResponsesRequest(body);
      const named = await sessionNamedBy(deps, request, body);
      const turn = await continueConversation(client, conversation, named);
      nameTurn(reply, turn);
      const output = createResponseOutput(turn, body);
      if (body.background && !body.stream) return output.response();
      const follower = createTurnFollower(deps, client.caller, turn);
      const keep = async ({ kind }: TurnPause): Promise<void> => {
        if (kind !== 'calls' && named === undefined)
          await keepAnswer(client, conversation, turn, output.text());
      };
      if (body.stream)
        return streamTurn(replies, request, reply, follower, async (news) => {
          const { events, pause } = output.take(news);
          if (pause) await keep(pause);
          const frames = events.map((event) => `event: ${event.type}\n${dataFrame(event)}`);
          return { frames, isOver: pause !== undefined };
        });
      let over: TurnPause | undefined;
      await followUntil(follower, endOf(reply), (news) => {
        over = output.take(news).pause;
        return over !== undefined;
      });
      if (over) await keep(over);
      return output.response(over);
    },
  );

  app.get(
    '/v1/responses/:id',
    { config: { scope: 'read' }, errorHandler: sendOpenaiError, schema: { hide: true, params } },
    async (request) => {
      const caller = callerOf(request);
      const { row, turn } = await responseOr404(deps, caller, request.params.id);
      const output = createResponseOutput(turn, { model: row.agent_key }, row.created_at);
      return output.response(output.take(await createTurnFollower(deps, caller, turn).news()).pause);
    },
  );

  app.post(
    '/v1/responses/:id/cancel',
    { config: { scope: 'run' }, errorHandler: sendOpenaiError, schema: { hide: true, params } },
    async (request, reply) => {
      const caller = callerOf(request);
      const { row, turn } = await responseOr404(deps, caller, request.params.id);
      const stop = { level: 'now', turn_id: turn.id, by: signatureOf(caller) } as const;
      if (!hasEnded(row)) await deps.temporal.stop(caller.tenant, turn.session, stop);
      const output = createResponseOutput(turn, { model: row.agent_key }, row.created_at);
      let over: TurnPause | undefined;
      await followUntil(createTurnFollower(deps, caller, turn), endOf(reply), (news) => {
        over = output.take(news).pause;
        return over?.kind === 'ended';
      });
      return output.response(over);
    },
  );
}

async function sessionNamedBy(
  deps: ApiDeps,
  request: FastifyRequest,
  { conversation, previous_response_id: previous }: ResponsesRequest,
): Promise<string | undefined> {
  if (previous && conversation)
    throw new Failure('InvalidInput', 'Send previous_response_id or conversation, and not both');
  if (previous) return (await responseOr404(deps, callerOf(request), previous)).turn.session;
  if (conversation) return typeof conversation === 'string' ? conversation : conversation.id;
  return namedSession(request);
}

async function responseOr404(
  { pool }: ApiDeps,
  caller: Caller,
  id: string,
): Promise<{ readonly row: TurnRow; readonly turn: StartedTurn }> {
  const named = readResponseId(id);
  const row = named && (await reachableTurn(pool, caller, named.turn));
  if (!row) throw new Failure('NotFound', 'There is no response with this id');
  return { row, turn: { session: row.session_key, id: row.id, after: named.after } };
}
