/** `/v1/chat/completions`: a conversation whose messages the client sends whole each time. */
import type { FastifyReply } from 'fastify';
import type { Api, ApiDeps } from '#api/deps.ts';
import { endOf } from '#api/routes/turns/messages.ts';
import { MAX_BODY_WITH_FILES } from '#api/sent-files.ts';
import { callerOf } from '#api/server/auth.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { dataFrame, DONE_FRAME, streamTurn } from '#api/stream-turn.ts';
import { createTurnFollower, followUntil, type StartedTurn } from '#api/turn-follower.ts';
import { Failure } from '#domain/errors.ts';
import { type ClientRequest, continueConversation, keepAnswer } from '../start-turn.ts';
import { createChatOutput, errorOf } from '../chat-output.ts';
import { sendOpenaiError } from '../openai-error.ts';
import { chatRequestSchema, readChatRequest } from '../requests/chat.ts';
import { namedSession } from '../requests/session-header.ts';
import type { TurnPause } from '#api/turn-pause.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const replies = createSseReplies(app, deps);
  app.post(
    '/v1/chat/completions',
    {
      config: { scope: 'run', repeatable: true },
      bodyLimit: MAX_BODY_WITH_FILES,
      errorHandler: sendOpenaiError,
      schema: { hide: true, body: chatRequestSchema },
    },
    async (request, reply) => {
      const { body } = request;
      const client: ClientRequest = { deps, caller: callerOf(request), request };
      const conversation = readChatRequest(body);
      const named = namedSession(request);
      const turn = await continueConversation(client, conversation, named);
      nameTurn(reply, turn);
      const output = createChatOutput(turn, body.model, body.stream_options?.include_usage === true);
      const follower = createTurnFollower(deps, client.caller, turn);
      const keep = async ({ kind }: TurnPause): Promise<void> => {
        if (kind !== 'calls' && named === undefined)
          await keepAnswer(client, conversation, turn, output.text.whole());
      };
      if (body.stream)
        return streamTurn(replies, request, reply, follower, async (news) => {
          const { chunks, pause } = output.take(news);
          if (pause) await keep(pause);
          return {
            frames: [...chunks.map(dataFrame), ...(pause ? [DONE_FRAME] : [])],
            isOver: pause !== undefined,
          };
        });
      let over: TurnPause | undefined;
      await followUntil(follower, endOf(reply), (news) => {
        over = output.take(news).pause;
        return over !== undefined;
      });
      if (!over) throw new Failure('Unavailable', 'The server stops; the turn goes on');
      if (over.kind === 'ended' && over.turn.error) {
        // The turn was paid for, so that clients must not begin another by themselves.
        return reply
          .code(500)
          .header('x-should-retry', 'false')
          .send({ error: errorOf(over.turn.error) });
      }
      await keep(over);
      return output.completion(over);
    },
  );
}

/** Headers with which the client finds the conversation in TempoClaw. */
export function nameTurn(reply: FastifyReply, { session, id }: StartedTurn): void {
  reply.headers({ 'x-tempoclaw-session': session, 'x-tempoclaw-turn': id });
}
