/** A server on this machine that acts as a web site, and the real way to reach it. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEgress, type Egress } from '#activities/egress/create-egress.ts';
import type { NewEgressRow } from '#store/egress-store.ts';

export interface WebRequest {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebSite {
  readonly url: string;
  /** `127.0.0.1:PORT`, for rules that allow it. */
  readonly place: string;
  readonly requests: WebRequest[];
}

export async function startSite(
  t: { after(end: () => void): void },
  answer: (request: IncomingMessage, reply: ServerResponse) => void,
): Promise<WebSite> {
  const requests: WebRequest[] = [];
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    requests.push({ line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() });
    answer(request, reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${place}`, place, requests };
}

/** Its rows are in memory; names resolve as `dns` says. */
export function memoryEgress(
  rows: NewEgressRow[] = [],
  dns: Readonly<Record<string, readonly string[]>> = {},
): Egress {
  return createEgress({
    resolve: async (host) => dns[host] ?? [],
    record: async (row) => void rows.push(row),
  });
}
