/**
 * Servers on sockets for the adapters' tests: one records the requests on the wire before it forwards them, one does
 * what the test says.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface TestServer {
  readonly url: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** Answers every request with `answer`, and records the requests. */
export async function startServer(
  answer: (request: SeenRequest, response: ServerResponse) => void | Promise<void>,
): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>;
    const requested = { path: request.url ?? '', headers: request.headers, body };
    seen.push(requested);
    await answer(requested, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** aimock behind a recorder: `seen` has each request as it was on the wire, in the provider's own protocol. */
export async function startProvider(): Promise<TestServer & { readonly mock: LLMock }> {
  const mock = new LLMock({ port: 0, chunkSize: 6 });
  await mock.start();
  const front = await startServer(async (request, response) => {
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers;
    const answered = await fetch(new URL(request.path, mock.url), {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: JSON.stringify(request.body),
    });
    const {
      'content-encoding': ____,
      'content-length': _____,
      ...kept
    } = Object.fromEntries(answered.headers);
    response.writeHead(answered.status, kept);
    for await (const chunk of answered.body ?? []) response.write(chunk);
    response.end();
  });
  return {
    ...front,
    mock,
    async close() {
      await front.close();
      await mock.stop();
    },
  };
}
