/**
 * A model server that speaks OpenAI's chat completions and streams. `words` says a few words; `work` does what the
 * user's message asks for: so many steps, each an answer over so many milliseconds and a call of the MCP tool `work`.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const WORDS = ['One ', 'two ', 'three ', 'four ', 'five.'];
const PAUSE_MS = 60;
/** Pieces of an answer of `work`, with equal pauses between them. */
const PIECES = 20;
const PIECE = ' and some more words of it,';

export interface ModelServer {
  /** The base URL for a provider. */
  readonly url: string;
  /**
   * Returns when (Date.now) the blank after the first word of an answer was sent: of the last answer of `words`, or of
   * the first one to a message with this `probe`. Until then, the word may be the beginning of a secret.
   */
  readonly firstWordAt: (probe?: string) => number;
  /** Requests that are open now. */
  readonly open: () => number;
  close(): Promise<void>;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
}

interface Answer {
  readonly pieces: readonly string[];
  readonly pauseMs: number;
  /** Milliseconds of the tool call that follows the words. */
  readonly callMs?: number | undefined;
  /** Steps before this one. */
  readonly step: number;
  readonly probe: string;
}

export async function startModelServer(): Promise<ModelServer> {
  const firstWords = new Map<string, number>();
  let open = 0;
  const server = createServer((request, response) => {
    void (async () => {
      open += 1;
      response.on('close', () => (open -= 1));
      const { pieces, pauseMs, callMs, step, probe } = await answerTo(request);
      const wordEndsAt = pieces.findIndex((piece) => piece.trimStart().includes(' '));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (delta: object, finish: string | null = null): void =>
        void response.write(
          `data: ${JSON.stringify({
            id: 'bench',
            object: 'chat.completion.chunk',
            created: 0,
            model: 'bench',
            choices: [{ index: 0, delta, finish_reason: finish }],
          })}\n\n`,
        );
      send({ role: 'assistant', content: '' });
      for (const [at, content] of pieces.entries()) {
        send({ content });
        if (at === wordEndsAt && (probe === '' || !firstWords.has(probe))) firstWords.set(probe, Date.now());
        await sleep(pauseMs);
        if (response.destroyed) return;
      }
      if (callMs !== undefined) {
        const call = {
          name: 'mcp_bench__work',
          arguments: JSON.stringify({ ms: callMs, call: String(step) }),
        };
        send({ tool_calls: [{ index: 0, id: `call_${step}`, type: 'function', function: call }] });
      }
      send({}, callMs === undefined ? 'stop' : 'tool_calls');
      response.end('data: [DONE]\n\n');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    firstWordAt: (probe = '') => firstWords.get(probe) ?? Number.NaN,
    open: () => open,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The message of `work` has the form `steps=5 model_ms=3000 call_ms=50 probe=x`. */
async function answerTo(request: IncomingMessage): Promise<Answer> {
  const body = JSON.parse(await readText(request)) as { model: string; messages: readonly ChatMessage[] };
  if (body.model !== 'work') return { pieces: WORDS, pauseMs: PAUSE_MS, step: 0, probe: '' };
  const from = body.messages.findLastIndex(({ role }) => role === 'user');
  const message = JSON.stringify(body.messages[from]?.content ?? '');
  const number = (name: string): number => Number(new RegExp(`${name}=(\\d+)`).exec(message)?.[1] ?? 0);
  const done = body.messages.slice(from).filter(({ role }) => role === 'tool').length;
  return {
    pieces: Array.from({ length: PIECES }, () => PIECE),
    pauseMs: number('model_ms') / PIECES,
    callMs: done < number('steps') ? number('call_ms') : undefined,
    step: done,
    probe: /probe=([\w-]+)/.exec(message)?.[1] ?? '',
  };
}
