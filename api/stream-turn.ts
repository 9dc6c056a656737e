/** Sends what a turn does to the client of a protocol, as server-sent events. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SseReplies } from './server/sse-replies.ts';
import type { TurnFollower, TurnNews } from './turn-follower.ts';

export interface TurnFrames {
  readonly frames: readonly string[];
  /** Whether the answer is over, so that the stream ends. */
  readonly isOver: boolean;
}

/** Resolves when the stream ends: with the answer, or because the client is gone or the server stops. */
export function streamTurn(
  replies: SseReplies,
  request: FastifyRequest,
  reply: FastifyReply,
  follower: TurnFollower,
  take: (news: TurnNews) => Promise<TurnFrames>,
): Promise<void> {
  const ended = new AbortController();
  return replies.open(request, reply, {
    resumes: false,
    ended: ended.signal,
    subscribe: follower.subscribe,
    async sendNew(write) {
      const { frames, isOver } = await take(await follower.news());
      for (const frame of frames) await write(frame);
      if (isOver) ended.abort();
    },
  });
}

export function dataFrame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

export const DONE_FRAME = 'data: [DONE]\n\n';
