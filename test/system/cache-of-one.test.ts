/**
 * DU-2: a worker that keeps one workflow in memory evicts runs all the time, with their local activities: no effect
 * happens twice.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Failure } from '#domain/errors.ts';
import type { Receipt } from '#domain/turn/turn.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

const TURNS = Number(process.env['TEST_TURNS'] ?? 100);
const AT_ONCE = 16;

describe('DU-2 a worker with worker.maxCachedWorkflows: 1', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      env: { TEMPOCLAW_MAX_CACHED_WORKFLOWS: '1' },
      agents: [{ key: 'acts', tools: {}, exec: { security: 'full', ask: 'off' } }],
    });
  });
  after(() => live.close());

  /** Acts as a client does: it sends the same message again while the worker is too busy to accept it. */
  async function say(session: string, id: string, script: string): Promise<Receipt> {
    for (;;) {
      try {
        return await live.say(session, script, { agent: 'acts', id });
      } catch (error) {
        if (!(error instanceof Failure) || error.type !== 'Unavailable') throw error;
      }
    }
  }

  it(`does each of the effects of ${TURNS} turns once, and all turns end well`, async () => {
    const turns: string[] = [];
    let next = 0;
    const lane = async (session: string): Promise<void> => {
      while (next < TURNS) {
        next += 1;
        const note = `n${next}`;
        const command = `echo ${note} >> effects.txt`;
        const script = `mark {"note":"${note}"}\nthen\nexec ${JSON.stringify({ command })}\nthen\npoke {"note":"${note}"}\nthen\nDone.`;
        const { turn_id } = await say(session, `msg-${note}`, script);
        const row = await live.ended(turn_id);
        assert.deepEqual([row.status, row.text], ['completed', 'Done.'], turn_id);
        turns.push(turn_id);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => lane(`lane-${index}`)));

    assert.equal(turns.length, TURNS);
    const { rows } = await live.pool.query<{ tool: string; ok: boolean; calls: number }>(
      'select tool, ok, count(*)::int as calls from tool_calls where tenant_id = $1 group by tool, ok order by tool',
      [live.tenant],
    );
    assert.deepEqual(
      rows,
      ['exec', 'mark', 'poke'].map((tool) => ({ tool, ok: true, calls: TURNS })),
    );
    const done = live.probes.effects.map(({ tool, callId }) => `${tool} ${callId}`);
    assert.equal(done.length, 2 * TURNS);
    assert.equal(new Set(done).size, done.length, 'an effect happened twice');
    const { turn_id } = await live.say('lane-0', 'exec {"command":"wc -l < effects.txt"}', { agent: 'acts' });
    await live.ended(turn_id);
    const [lines] = await live.calls(turn_id);
    assert.equal(Number(lines?.result), TURNS, 'a command ran twice');
  });
});
