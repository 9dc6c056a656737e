/** Event streams over cuts, and from a hostile server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@tempoclaw/client';
import { type Reply, serve } from './server.ts';

const event = (id: number): string => `id: ${id}\nevent: message.delta\ndata: {"id":${id}}\n\n`;

/** Sends the events behind the one that the request names, up to `last`, twice the first of them, and cuts in an event. */
function sendSome(after: number, last: number, reply: Reply): void {
  reply.stream(event(after) + event(after + 1) + event(after + 1));
  for (let id = after + 2; id <= last; id += 1) reply.stream(event(id));
  reply.stream(event(last + 1).slice(0, 20));
  setTimeout(reply.cut, 20);
}

test('events come once and in order over cuts in the middle of one, 503, 429 and an ended stream', async (t) => {
  const { url, requests } = await serve(t, (n, reply) => {
    const after = Number(requests[n]?.headers['last-event-id']);
    if (n === 1) return reply.json({ code: 'Unavailable' }, 503);
    if (n === 2) return reply.json({ code: 'RateLimited' }, 429, { 'retry-after': '1' });
    if (n === 3) return reply.raw(200, { 'content-type': 'text/event-stream' }, event(after + 1));
    sendSome(after, after + 4, reply);
  });
  const cuts: unknown[] = [];
  const ids: number[] = [];
  const events = createClient({ url })
    .session('s')
    .events({
      after: 5,
      onConnection: (cut) => void cuts.push((cut as { code?: string } | undefined)?.code),
    });
  for await (const { id } of events) {
    ids.push(id);
    if (id === 18) break;
  }
  assert.deepEqual(
    ids,
    Array.from({ length: 13 }, (_, n) => 6 + n),
  );
  assert.deepEqual(
    requests.map(({ headers }) => headers['last-event-id']),
    ['5', '9', '9', '9', '10', '14'],
  );
  assert.deepEqual(cuts.slice(0, 6), [
    undefined,
    'Unreachable',
    'Unavailable',
    'RateLimited',
    undefined,
    'Unreachable',
  ]);
});

test('leaving the loop and aborting the signal close the connection, without an error', async (t) => {
  const closed: number[] = [];
  const { url } = await serve(t, (n, reply) => {
    reply.response.on('close', () => closed.push(n));
    reply.stream(event(1));
  });
  const session = createClient({ url }).session('s');
  for await (const { id } of session.events()) if (id === 1) break;
  const controller = new AbortController();
  for await (const { id } of session.events({ signal: controller.signal }))
    setTimeout(() => controller.abort(), id);
  for await (const _ of session.events({ signal: controller.signal })) assert.fail('nothing is read');
  for (let n = 0; closed.length < 2 && n < 500; n += 1) await sleep(10);
  assert.deepEqual(closed.toSorted(), [0, 1]);
});

test('an abort ends the pause before the next try', async (t) => {
  const { url } = await serve(t, (_, reply) => reply.json({}, 503, { 'retry-after': '600' }));
  const controller = new AbortController();
  const onConnection = (): void => void setTimeout(() => controller.abort(), 20);
  const events = createClient({ url }).session('s').events({ signal: controller.signal, onConnection });
  for await (const _ of events) assert.fail('there is no event');
});

for (const [name, answer, code] of [
  ['a wrong key', (reply: Reply) => reply.json({ code: 'Unauthorized' }, 401), 'Unauthorized'],
  [
    'deleted events',
    (reply: Reply) => reply.json({ code: 'EventsTrimmed', first_id: 9 }, 410),
    'EventsTrimmed',
  ],
  ['a page in place of a stream', (reply: Reply) => reply.raw(200, {}, '<h1>'), 'InvalidAnswer'],
  ['an event that is not JSON', (reply: Reply) => reply.stream('id: 1\ndata: {\n\n'), 'InvalidAnswer'],
  ['an event without an id', (reply: Reply) => reply.stream('data: {}\n\n'), 'InvalidAnswer'],
  [
    'an event without an end',
    (reply: Reply) => reply.stream(`data: ${'x'.repeat(9_000_000)}`),
    'InvalidAnswer',
  ],
] as const)
  test(`${name} ends a stream with an error`, async (t) => {
    const { url, requests } = await serve(t, (_, reply) => answer(reply));
    await assert.rejects(createClient({ url }).session('s').events().next(), { code });
    assert.equal(requests.length, 1);
  });
