/**
 * A plain connection of a client, for other protocols than HTTP: judged, dialled and recorded like its other
 * connections.
 */
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { Exchange } from './egress-log.ts';

export interface Dialled {
  readonly socket: Socket;
  /** Ends and records it, unless it has ended. */
  end(): void;
}

/** `exchange` contains the address, which the connector judges. Rejects with EgressError. */
export function dial(
  connect: buildConnector.connector,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<Dialled> {
  const { hostname, port } = new URL(exchange.url);
  const place = { protocol: 'http:', hostname: hostname.replace(/^\[|\]$/g, ''), port };
  return new Promise((done, failed) => {
    connect(place, (error, socket) => {
      if (error) return failed(exchange.fail(error));
      const stop = (): void => void socket.destroy(exchange.fail(signal.reason));
      const end = (): void => {
        signal.removeEventListener('abort', stop);
        exchange.count(socket.bytesRead);
        void exchange.end(null);
        socket.destroy();
      };
      signal.addEventListener('abort', stop, { once: true });
      // The owner may not listen yet, or not any more.
      socket.on('error', (problem) => exchange.fail(problem));
      socket.once('close', end);
      if (signal.aborted) stop();
      done({ socket, end });
    });
  });
}
