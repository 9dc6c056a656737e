/** Where the API listens: at its port, and for the programs of its own user on a Unix socket, which nobody else can stand behind. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Api } from './deps.ts';

/**
 * The address of the port: the wished one, or for 0 any. Throws when it is taken: commands are kept from this one (docs/sandbox.md), and
 * clients look for it there. `socket` is closed with the API.
 */
export async function listen(
  app: Api,
  {
    host,
    port,
    socket,
  }: { readonly host: string; readonly port: number; readonly socket: string | undefined },
): Promise<string> {
  if (socket !== undefined) await listenAt(app, socket);
  return app.listen({ host, port });
}

/** For what is being answered when the port is closed. */
const LAST_ANSWERS_MS = 1_000;

async function listenAt(app: Api, path: string): Promise<void> {
  const server = createServer((message, answer) => app.server.emit('request', message, answer));
  // Of one that was killed.
  await rm(path, { force: true });
  await once(server.listen(path), 'listening');
  app.server.once('close', () => {
    server.close();
    setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  });
}
