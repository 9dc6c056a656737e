/** A server with OpenAI's embeddings protocol, for which words determine the meaning of texts. */
import type { ServerResponse } from 'node:http';
import { type SeenRequest, startServer, type TestServer } from '#test/activities/model/provider-server.ts';

/** Fails once `fail` has been called. */
export interface EmbeddingServer extends TestServer {
  fail(): void;
}

/**
 * Texts with words of the same list have the same direction; each list is a direction of its own, and the last is for
 * all others.
 */
export async function startEmbeddingServer(
  meanings: readonly (readonly string[])[],
): Promise<EmbeddingServer> {
  let fails = false;
  const server = await startServer(({ path, body }: SeenRequest, response: ServerResponse) => {
    response.setHeader('content-type', 'application/json');
    if (fails || path !== '/v1/embeddings') {
      response.writeHead(fails ? 500 : 404);
      return void response.end(JSON.stringify({ error: { message: 'not now', type: 'server_error' } }));
    }
    const input = body['input'] as readonly string[];
    const data = input.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: vectorOf(text, meanings),
    }));
    const tokens = input.length * 10;
    response.end(
      JSON.stringify({
        object: 'list',
        data,
        model: body['model'],
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }),
    );
  });
  return { ...server, fail: () => void (fails = true) };
}

function vectorOf(text: string, meanings: readonly (readonly string[])[]): readonly number[] {
  const found = meanings.map((words) => (words.some((word) => text.includes(word)) ? 3 : 0));
  return [...found, found.some((value) => value > 0) ? 0 : 3];
}
