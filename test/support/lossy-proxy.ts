/**
 * A TCP proxy that loses replies: the server has done what was requested, and the client is cut off before the answer
 * (F5, "the reply is dropped after the commit").
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface LossyProxy {
  readonly port: number;
  /** Replies lost so far. */
  lost(): number;
  /** The next `count` replies are not passed on; the connection of each ends. */
  lose(count: number): void;
  close(): Promise<void>;
}

/** Runs before a server on this machine; `targetPort` may come and go. */
export async function createLossyProxy(targetPort: number): Promise<LossyProxy> {
  const open = new Set<Socket>();
  let toLose = 0;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true);
      // A failure of one side ends the other, as a network would.
      socket.on('error', end).on('close', () => {
        open.delete(socket);
        end();
      });
    }
    /** Only an answer to a request counts; what a server sends by itself is passed on. */
    let request = false;
    client.on('data', (bytes) => {
      request = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (request && toLose > 0) {
        toLose -= 1;
        lost += 1;
        end();
        return;
      }
      request = false;
      client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    lost: () => lost,
    lose(count) {
      toLose = count;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
