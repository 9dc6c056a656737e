/** A server that answers each request as a test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Reply {
  readonly response: ServerResponse;
  json(body: unknown, status?: number, headers?: Readonly<Record<string, string>>): void;
  raw(status: number, headers: Readonly<Record<string, string>>, body: string): void;
  /** Begins a stream of events, or goes on with it. */
  stream(text: string): void;
  cut(): void;
}

export interface SeenRequest {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `answer` gets the number of the request, from 0. */
export async function serve(
  t: { after(end: () => void): void },
  answer: (n: number, reply: Reply) => void,
): Promise<{ readonly url: string; readonly requests: readonly SeenRequest[] }> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const n = requests.push({ line: `${method} ${url}`, headers, body: await text(request) }) - 1;
    answer(n, {
      response,
      json: (body, status = 200, more = {}) =>
        response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body)),
      raw: (status, head, body) => response.writeHead(status, head).end(body),
      stream(events) {
        if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(events);
      },
      cut: () => response.destroy(),
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
