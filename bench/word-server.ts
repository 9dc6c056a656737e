/**
 * A model server that streams a few words as OpenAI's chat completions, and records when the first word was complete.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const WORDS = ['One', ' two', ' three', ' four', ' five.'];
const PAUSE_MS = 60;

export interface WordServer {
  /** The base URL for a provider. */
  readonly url: string;
  /**
   * Returns when (Date.now) the blank after the last answer's first word was sent. Until then, the word may be the
   * beginning of a secret.
   */
  readonly firstWordAt: () => number;
  close(): Promise<void>;
}

export async function startWordServer(): Promise<WordServer> {
  let firstWordAt = Number.NaN;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: object, finish: string | null = null): void =>
      void response.write(
        `data: ${JSON.stringify({
          id: 'words',
          object: 'chat.completion.chunk',
          created: 0,
          model: 'words',
          choices: [{ index: 0, delta, finish_reason: finish }],
        })}\n\n`,
      );
    void (async () => {
      send({ role: 'assistant', content: '' });
      for (const [at, content] of WORDS.entries()) {
        if (at === 1) firstWordAt = Date.now();
        send({ content });
        await sleep(PAUSE_MS);
      }
      send({}, 'stop');
      response.end('data: [DONE]\n\n');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    firstWordAt: () => firstWordAt,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
