/** A node that a test controls: over a real WebSocket, answering as the test says. */
import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import type { NodeResult } from '../schema.ts';
import type { ToNode } from '../schema.ts';
import type { TestApi } from '#test/support/stack.ts';

export const FAKE_TOKEN = (): string => `tcn_${randomUUID().replaceAll('-', '')}${'x'.repeat(11)}`;

export interface FakeNode {
  readonly token: string;
  /** The messages that it got, in order. */
  readonly heard: ToNode[];
  readonly socket: WebSocket;
  /** Resolves when it gets a message of the type. */
  next(type: ToNode['type']): Promise<ToNode>;
  answer(id: string, result: NodeResult): void;
  /** The code with which the server closed. */
  readonly closed: Promise<number>;
}

export interface FakeNodeOptions {
  readonly token: string;
  readonly journal?: string;
  readonly capabilities?: readonly string[];
  /** Does not report itself. */
  readonly silent?: boolean;
  readonly autoPong?: boolean;
}

/** Invites it and joins; returns its token. */
export async function joinFakeNode(
  api: TestApi,
  name: string,
  input: { key?: string } = {},
): Promise<string> {
  const invited = await api.ask('POST', '/v1/nodes/invites', { body: { name }, ...input });
  const token = FAKE_TOKEN();
  const joined = await api.ask('POST', '/v1/nodes/join', {
    body: { code: invited.body.code, token },
    key: null,
  });
  if (joined.status !== 200) throw new Error(`joining: ${JSON.stringify(joined.body)}`);
  return token;
}

/** Rejects with the status of an answer that is no connection. */
export function connectFakeNode(api: Pick<TestApi, 'url'>, options: FakeNodeOptions): Promise<FakeNode> {
  const { token, journal = randomUUID(), capabilities = ['lamp.switch'], silent, autoPong } = options;
  const socket = new WebSocket(`${api.url.replace('http', 'ws')}/v1/nodes/connect`, {
    headers: { authorization: `Bearer ${token}` },
    autoPong: autoPong ?? true,
  });
  const received: ToNode[] = [];
  const waiting = new Set<() => void>();
  const taken = new Set<ToNode>();
  socket.on('message', (data) => {
    received.push(JSON.parse((data as Buffer).toString('utf8')) as ToNode);
    for (const wake of waiting) wake();
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  return new Promise((resolve, reject) => {
    socket.on('unexpected-response', (_request, { statusCode }) => {
      reject(new Error(String(statusCode)));
      socket.terminate();
    });
    socket.on('error', reject);
    socket.on('open', () => {
      const declared = capabilities.map((name) => ({ name, description: `Does ${name}` }));
      if (!silent)
        socket.send(
          JSON.stringify({ type: 'hello', platform: 'test', version: '1', journal, capabilities: declared }),
        );
      resolve({
        token,
        heard: received,
        socket,
        closed,
        answer: (id, result) => socket.send(JSON.stringify({ type: 'result', id, result })),
        next: (type) =>
          new Promise((found) => {
            const probe = (): void => {
              const one = received.find((message) => message.type === type && !taken.has(message));
              if (!one) return;
              taken.add(one);
              waiting.delete(probe);
              found(one);
            };
            waiting.add(probe);
            probe();
          }),
      });
    });
  });
}
