/** What a node does with its server's messages, in whatever order they come. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { createRunner, stayConnected } from '../program/node-connection.ts';
import type { NodeResult } from '../schema.ts';

it('TL nodes a stop that comes while the journal is written stops it all the same', async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  await once(server, 'listening');
  const journaled = Promise.withResolvers<'new'>();
  const ended: NodeResult[] = [];
  const end = new AbortController();
  let runs = 0;
  const staying = stayConnected({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'tcn_test',
    version: '1',
    journal: {
      id: 'journal',
      begin: () => journaled.promise,
      end: async (_id, result) => void ended.push(result),
      close: async () => undefined,
    },
    capabilities: [
      {
        name: 'lamp.switch',
        description: 'Switches it',
        async run() {
          runs += 1;
          return { ok: true, text: 'on' };
        },
      },
    ],
    say: () => undefined,
    signal: end.signal,
  });
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  await once(socket, 'message');
  const invoke = { type: 'invoke', id: 'a', capability: 'lamp.switch', params: {}, milliseconds: 60_000 };
  for (const message of [invoke, { type: 'cancel', id: 'a' }]) socket.send(JSON.stringify(message));
  // It answers a ping once it has processed what came before.
  socket.ping();
  await once(socket, 'pong');
  journaled.resolve('new');
  const [answer] = (await once(socket, 'message')) as [Buffer];
  const result = { ok: false, code: 'Cancelled', text: 'it was not begun' };
  assert.deepEqual(JSON.parse(answer.toString('utf8')), { type: 'result', id: 'a', result });
  assert.deepEqual([runs, ended], [0, [result]]);
  end.abort();
  await staying;
});

it('TL nodes what it says of what it is asked has no secrets in it, cut off or not', async () => {
  const lines: string[] = [];
  const { take } = createRunner({
    journal: { id: 'j', begin: async () => 'new', end: async () => undefined, close: async () => undefined },
    capabilities: [{ name: 'door.open', description: '', run: async () => ({ ok: true, text: '' }) }],
    say: (line) => void lines.push(line),
  });
  for (let at = 0; at < 200; at += 20) {
    const text = `${'x'.repeat(at)} sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFy`;
    const params = { door: 'front', args: ['--password', 'Tr0ub4dor&3x'], text };
    await take({ type: 'invoke', id: `${at}`, capability: 'door.open', params, milliseconds: 1 });
  }
  assert.match(lines[0] ?? '', /^door\.open \{"door":"front".*REDACTED/);
  assert.doesNotMatch(lines.join('\n'), /sk-ant|Tr0ub4dor/);
});
