/** DU-12: what waits for a model takes no place from what works. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

/** More than the worker has places for everything else. */
const CALLS = 20;

describe('DU-12 many open model calls', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      env: { TEMPOCLAW_MAX_CONCURRENT_ACTIVITIES: '2' },
      scripts: { slow: 'rules:\n  - reply: { delay: 10m, text: Too late. }\n' },
      agents: [
        { key: 'slow', model: 'rehearsal/slow' },
        { key: 'free', tools: {} },
      ],
    });
  });
  after(() => live.close());

  it('all wait at once in one worker, tools of other turns run meanwhile, and a stop reaches each', async () => {
    const turns = await Promise.all(
      Array.from({ length: CALLS }, async (_, n) => {
        const session = `waits-${n}`;
        return { session, ...(await live.say(session, 'Hello.', { agent: 'slow' })) };
      }),
    );
    await live.until('all calls', async () => {
      const { rows } = await live.pool.query(
        `select from turns where tenant_id = $1 and status = 'running'`,
        [live.tenant],
      );
      return rows.length === CALLS || undefined;
    });
    const { turn_id } = await live.say('works', 'poke {"note":"meanwhile"}', { agent: 'free' });
    assert.equal((await live.ended(turn_id)).status, 'completed');
    for (const { session, turn_id: turn } of turns)
      await live.temporal.stop(live.tenant, session, { turn_id: turn, level: 'now', by: 'ann' });
    const ended = await Promise.all(turns.map((turn) => live.ended(turn.turn_id)));
    assert.deepEqual(new Set(ended.map(({ status }) => status)), new Set(['stopped']));
  });

  it('not more of the others work at once than the setting says, whatever else waits', async () => {
    const receipts = await Promise.all(
      ['one', 'two', 'three'].map((note) => live.say(note, `hold {"note":"${note}"}`, { agent: 'free' })),
    );
    await live.until('two that work', () => live.probes.held.size === 2 || undefined);
    const [first] = live.probes.held.keys();
    live.probes.release(String(first));
    await live.until(
      'the third',
      () =>
        ['one', 'two', 'three']
          .filter((note) => note !== first)
          .every((note) => live.probes.held.has(note)) || undefined,
    );
    for (const note of ['one', 'two', 'three']) if (note !== first) live.probes.release(note);
    for (const { turn_id } of receipts) assert.equal((await live.ended(turn_id)).status, 'completed');
  });
});
