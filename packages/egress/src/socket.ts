/** A WebSocket of a client: dialled like its other connections, with its bytes counted, and recorded. */
import { type Agent, WebSocket } from 'undici';
import type { Exchange } from './egress-log.ts';
import { EgressError } from './egress-error.ts';

export interface EgressSocket {
  /** Sends `first` after the socket is open, then yields what arrives; ends when it is closed. Throws EgressError. */
  messages(first: readonly string[]): AsyncIterable<string | Buffer>;
  close(): void;
}

export interface OpenSocket extends EgressSocket {
  /** Ends and records it, unless it has ended. */
  end(): void;
}

export function openSocket(
  agent: Agent,
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): OpenSocket {
  const socket = new WebSocket(exchange.url.replace(/^http/, 'ws'), { dispatcher: agent, headers });
  socket.binaryType = 'arraybuffer';
  const received: (string | Buffer)[] = [];
  let problem: EgressError | undefined;
  let isOver = false;
  let changed = Promise.withResolvers<void>();
  const notify = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const isOpening = (): boolean => !isOver && socket.readyState === WebSocket.CONNECTING;
  /** The reader sees the end after it is recorded. */
  const finish = async (failure?: EgressError): Promise<void> => {
    await exchange.end(null);
    problem ??= failure;
    isOver = true;
    notify();
  };
  const fail = (error: unknown): void => {
    void finish(exchange.fail(error));
    socket.close();
  };
  socket.addEventListener('open', notify);
  socket.addEventListener('message', ({ data }: { readonly data: unknown }) => {
    const message = data instanceof ArrayBuffer ? Buffer.from(data) : String(data);
    const tooMuch = exchange.count(Buffer.byteLength(message));
    if (tooMuch) return fail(tooMuch);
    received.push(message);
    notify();
  });
  socket.addEventListener('error', ({ error }: { readonly error: unknown }) => fail(error));
  socket.addEventListener('close', () => void finish());
  signal.addEventListener('abort', () => fail(signal.reason), { once: true });
  if (signal.aborted) fail(signal.reason);

  return {
    async *messages(first) {
      while (isOpening()) await changed.promise;
      if (!isOver) for (const message of first) socket.send(message);
      for (;;) {
        const next = received.shift();
        if (next !== undefined) yield next;
        else if (problem) throw problem;
        else if (isOver) throw new EgressError('unreachable', `${exchange.url} ended too early`);
        else await changed.promise;
      }
    },
    close() {
      isOver = true;
      socket.close();
    },
    end() {
      socket.close();
      void finish();
    },
  };
}
