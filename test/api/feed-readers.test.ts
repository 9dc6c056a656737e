/** IN-2, IN-9: readers of one session share their queries, and a stream ends when its reader may not read any more. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSse, type SseReader } from '#test/support/sse.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';
import { observeStatements } from '#test/support/statements.ts';

const READERS = 100;
const EVENTS = 25;
const QUERIES_PER_SECOND = 30;

describe('readers of sessions', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    await api.pool.query(
      "insert into sessions (tenant_id, key, agent_key, user_id) values ('default', 'busy', 'main', 'ann'), ('default', 'left', 'main', 'ann'), ('default', 'gone', 'main', 'ann')",
    );
  });
  after(() => api.stop());

  const follow = (session: string, key: string): Promise<SseReader> =>
    openSse(`${api.url}/v1/sessions/${session}/events`, { authorization: `Bearer ${key}` });

  it('IN-2 a hundred of one session share their queries', async (t) => {
    const readers = await Promise.all(Array.from({ length: READERS }, () => follow('busy', api.key)));
    let reads = 0;
    observeStatements(t, api.pool, ({ text }) => {
      if (/from events\s+where/.test(text)) reads += 1;
    });
    for (let n = 1; n <= EVENTS; n += 1) {
      await api.pool.query(
        `with one as (update sessions set event_seq = $1 where tenant_id = 'default' and key = 'busy')
         insert into events (tenant_id, session_key, id, type, data) values ('default', 'busy', $1, 'turn.queued', '{}')`,
        [n],
      );
      api.deps.notifier.notify('default', 'busy', true);
      // Each has what came before the next comes.
      for (const reader of readers) await reader.until(({ id }) => id === n);
    }
    // A poll may wake them as well, and one that is woken late asks by itself.
    assert.ok(reads >= EVENTS && reads <= 4 * EVENTS, `${reads} queries for ${READERS * EVENTS} events`);
    for (const reader of readers) reader.close();
  });

  it(`IN-2 a hundred inboxes beside ${EVENTS} events a second send ${QUERIES_PER_SECOND} queries a second`, async (t) => {
    const inboxes = await Promise.all(
      Array.from({ length: READERS }, () =>
        openSse(`${api.url}/v1/approvals/events`, {
          authorization: `Bearer ${api.key}`,
          accept: 'text/event-stream',
        }),
      ),
    );
    for (const { status } of inboxes) assert.equal(status, 200);
    // Each has read the pending approvals, and once more after the first look at whether they change.
    api.deps.notifier.notify('default', 'busy', true);
    await sleep(1000);
    let count = 0;
    observeStatements(t, api.pool, () => {
      count += 1;
    });
    const began = performance.now();
    for (let n = 1; n <= 4 * EVENTS; n += 1) {
      api.deps.notifier.notify('default', 'busy', true);
      await sleep(1000 / EVENTS);
    }
    const seconds = (performance.now() - began) / 1000;
    assert.ok(count > 0 && count <= QUERIES_PER_SECOND * seconds, `${count} queries in ${seconds} s`);
    for (const inbox of inboxes) inbox.close();
  });

  it('IN-9 a stream ends when its session becomes another user’s, or is forgotten', async () => {
    const key = await api.makeKey(['read'], { user: 'ann' });
    const left = await follow('left', key);
    const gone = await follow('gone', api.key);
    assert.deepEqual([left.status, gone.status], [200, 200]);
    await api.pool.query("update sessions set user_id = 'ben' where key = 'left'");
    await api.pool.query("delete from sessions where key = 'gone'");
    assert.deepEqual(await left.until(() => false), []);
    assert.deepEqual(await gone.until(() => false), []);
  });
});
