/** Answers one request: a result, or the task as a stream. */
import { StreamResponse } from '@a2a-js/sdk';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps } from '#api/deps.ts';
import { endOf } from '#api/routes/turns/messages.ts';
import { callerOf } from '#api/server/auth.ts';
import type { SseReplies } from '#api/server/sse-replies.ts';
import { dataFrame, streamTurn } from '#api/stream-turn.ts';
import { createTurnFollower } from '#api/turn-follower.ts';
import { answerFiles } from './answer-files.ts';
import { baseOf } from './base-address.ts';
import { dispatch, type Incoming } from './dispatch.ts';
import { createTaskStream } from './task-stream.ts';
import { getTask, taskOr404 } from './tasks.ts';

export interface Served {
  readonly agent: string;
  readonly binding: Incoming['binding'];
  /** A request of JSON-RPC. */
  readonly message: unknown;
  /** What a stream sends for an item of it. */
  wrap(item: unknown): object;
}

/** Returns the result, or undefined when it has been streamed. */
export async function serveRequest(
  deps: ApiDeps,
  replies: SseReplies,
  request: FastifyRequest,
  reply: FastifyReply,
  { agent, binding, message, wrap }: Served,
): Promise<{ readonly result: unknown } | undefined> {
  const incoming: Incoming = {
    deps,
    caller: callerOf(request),
    agent,
    signal: endOf(reply),
    base: baseOf(deps.settings, request),
    binding,
    version: request.headers['a2a-version'] ?? (request.query as Record<string, unknown>)['A2A-Version'],
  };
  const answer = await dispatch(incoming, message);
  if ('result' in answer) return answer;
  const { turn, stays } = answer;
  const row = await taskOr404(incoming, turn.id);
  const stream = createTaskStream(row, await getTask(incoming, { tenant: '', id: turn.id }));
  const follower = createTurnFollower(deps, incoming.caller, turn);
  await streamTurn(replies, request, reply, follower, async (news) => {
    const files = news.ended ? await answerFiles(incoming, [news.ended]) : undefined;
    const { responses, pause } = stream.take(news, files?.get(turn.id) ?? []);
    return {
      frames: responses.map((item) => dataFrame(wrap(StreamResponse.toJSON(item)))),
      isOver: pause === 'ended' || (pause === 'waits' && !stays),
    };
  });
  return undefined;
}
