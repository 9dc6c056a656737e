/**
 * Guards the dev server's web UI, which answers any request, also one of another site's page. The UI itself listens at a
 * port that browsers refuse to call, so that no page can bypass the guard.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { isPortFree } from '../ports.ts';

const HOST = '127.0.0.1';

/** "Bad ports" of the Fetch standard above 1023 that are used by no file system and no display. */
const REFUSED_PORTS = [
  1719, 1720, 1723, 3659, 4045, 4190, 5060, 5061, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080,
];

/**
 * Returns undefined when all are in use. It tries them in random order, so that two simultaneous starts rarely want the
 * same.
 */
export async function portRefusedByBrowsers(taken: ReadonlySet<number>): Promise<number | undefined> {
  const from = Math.floor(Math.random() * REFUSED_PORTS.length);
  for (const port of [...REFUSED_PORTS.slice(from), ...REFUSED_PORTS.slice(0, from)])
    if (!taken.has(port) && (await isPortFree(port, HOST))) return port;
  return undefined;
}

export interface UiRequest {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** Undefined when the request is allowed; otherwise what is answered instead. */
export type RefuseUi = (request: UiRequest) => { readonly status: number; readonly text: string } | undefined;

export interface UiGuardOptions {
  readonly port: number;
  /** The UI's own port. */
  readonly uiPort: number;
  readonly refuse: RefuseUi;
}

/**
 * Allows what names this machine, and changes only from the UI's own pages. A page of another site can point its name at
 * this machine (DNS rebinding), but its browser still sends that name in `Host`.
 */
export const refuseOtherSites: RefuseUi = ({ method, host, origin }) => {
  const name = (host ?? '').replace(/:\d+$/, '');
  if (!['localhost', HOST, '[::1]'].includes(name))
    return { status: 421, text: 'This is not known by that name.' };
  const isOwn = origin === undefined || origin === `http://${host}`;
  return isOwn || method === 'GET' || method === 'HEAD'
    ? undefined
    : { status: 403, text: 'Pages of other sites may change nothing here.' };
};

/** Throws when it cannot listen. `close` ends open connections. */
export async function guardUi({ port, uiPort, refuse }: UiGuardOptions): Promise<{ close(): void }> {
  const server = createServer((message, answer) => {
    const { method = 'GET', url = '/', headers } = message;
    const problem = refuse({ method, host: headers.host, origin: headers.origin });
    const named = message.headersDistinct['host']?.length ?? 0;
    if (problem || named !== 1 || !url.startsWith('/')) {
      // Later requests on a connection with two hosts may not be what they seem.
      const headers = { 'content-type': 'text/plain', ...(named > 1 && { connection: 'close' }) };
      answer.writeHead(named > 1 ? 400 : (problem?.status ?? 421), headers);
      answer.end(`${named > 1 ? 'Name one host.' : (problem?.text ?? 'Ask for a path.')}\n`);
      return;
    }
    // Each request has its own connection, because a reused one may be closed exactly when it is used again.
    const to = { host: HOST, port: uiPort, method, path: url, headers, agent: false };
    const passed = httpRequest(to, (input) => {
      answer.writeHead(input.statusCode ?? 502, input.headers);
      input.on('error', () => answer.destroy()).pipe(answer);
    });
    passed.on('error', () => {
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502, { 'content-type': 'text/plain' }).end('Temporal does not answer.\n');
    });
    answer.on('close', () => passed.destroy());
    message.on('error', () => passed.destroy()).pipe(passed);
  });
  await once(server.listen({ port, host: HOST, exclusive: true }), 'listening');
  // A broken connection is up to its browser.
  server.on('error', () => undefined);
  return {
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
