/**
 * Opens the sockets of the API: its port, and for programs of its own user a Unix socket, which nobody else can
 * impersonate.
 */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Api } from '../deps.ts';

/**
 * Returns the address of the port: the requested one, or any free one for 0. Throws when the port is taken. Commands
 * cannot reach this port (docs/sandbox.md), and clients expect the API there. `socket` is closed with the API.
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

/** How long current answers may take after the port is closed. */
const LAST_ANSWERS_MS = 1_000;

async function listenAt(app: Api, path: string): Promise<void> {
  const server = createServer((message, answer) => app.server.emit('request', message, answer));
  // Removes the socket of a process that was killed.
  await rm(path, { force: true });
  await once(server.listen(path), 'listening');
  app.server.once('close', () => {
    server.close();
    setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS).unref();
  });
}
