/** `/v1/chat/completions`: a conversation whose messages the client sends whole each time. */
import type { FastifyReply } from 'fastify';
import type { Api, ApiDeps } from '#api/deps.ts';
import { endOf } from '#api/routes/turns/messages.ts';
import { callerOf } from '#api/server/auth.ts';
import { createSseReplies } from '#api/server/sse-replies.ts';
import { createTurnFollower, followUntil } from '#api/turn-follower.ts';
import { Failure } from '#domain/errors.ts';
import { startTurn, type ClientRequest, keepAnswer } from '../start-turn.ts';
import type { StartedTurn } from '#api/turn-follower.ts';
import { createChatOutput } from '../chat-output.ts';
import { errorOf } from '../chat-output.ts';
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
      errorHandler: sendOpenaiError,
      schema: { hide: true, body: chatRequestSchema },
    },
    async (request, reply) => {
      const { body } = request;
      const client: ClientRequest = { deps, caller: callerOf(request), request };
      const conversation = readChatRequest(body);
      const turn = await startTurn(client, conversation, namedSession(request));
      nameTurn(reply, turn);
      const output = createChatOutput(turn, body.model, body.stream_options?.include_usage === true);
      const follower = createTurnFollower(deps, client.caller, turn, turn.after);
      const keep = () => keepAnswer(client, conversation, turn.session, output.text.whole());
      if (body.stream) {
        const ended = new AbortController();
        return replies.open(request, reply, {
          resumes: false,
          ended: ended.signal,
          subscribe: follower.subscribe,
          async sendNew(write) {
            const { chunks, pause } = output.take(await follower.news());
            if (pause) await keep();
            for (const chunk of chunks) await write(`data: ${JSON.stringify(chunk)}\n\n`);
            if (!pause) return;
            await write('data: [DONE]\n\n');
            ended.abort();
          },
        });
      }
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
      await keep();
      return output.completion(over);
    },
  );
}

/** Headers with which the client finds the conversation in TempoClaw. */
export function nameTurn(reply: FastifyReply, { session, id }: StartedTurn): void {
  reply.headers({ 'x-tempoclaw-session': session, 'x-tempoclaw-turn': id });
}
