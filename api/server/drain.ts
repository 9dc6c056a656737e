/**
 * Shuts down in order: streams and waits end, running requests are answered, and no idle connection holds the process.
 */
import type { Socket } from 'node:net';
import type { Api } from '../deps.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when the server begins to stop; waits and streams then end. */
    stopping: AbortSignal;
  }
}

/** How often idle connections are closed. Connections become idle one by one as requests end. */
const SWEEP_MS = 50;

export function drainOnClose(app: Api): void {
  const stop = new AbortController();
  app.decorate('stopping', stop.signal);
  const unused = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }: { readonly socket: Socket }) => unused.delete(socket));

  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    stop.abort();
    // Node does not count a connection as idle before its first request.
    for (const socket of unused) socket.destroy();
    sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
  });
  app.addHook('onClose', async () => clearInterval(sweep));
}
