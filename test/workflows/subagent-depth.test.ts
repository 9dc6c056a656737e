/** SA-1, SA-4: subagents of subagents, if the settings allow them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

interface Row {
  readonly depth: number;
  readonly status: string;
  readonly session_key: string;
}

describe('SA subagents of subagents', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      settings: 'subagents: { maxDepth: 2 }',
      agents: [
        { key: 'thinks', thinking: 'medium' },
        { key: 'runs', exec: { security: 'full', ask: 'off' } },
      ],
    });
  });
  after(() => live.close());

  const childOf = async (session: string): Promise<Row | undefined> =>
    (
      await live.pool.query<Row>('select * from assignments where tenant_id = $1 and origin_session = $2', [
        live.tenant,
        session,
      ])
    ).rows[0];
  const spawning = (args: Record<string, unknown>): string => `spawn ${JSON.stringify(args)}`;
  /** Starts one that starts one with this task. */
  async function twoDeep(session: string, task: string, before = '', agent = 'main'): Promise<void> {
    const inner = `${before}${spawning({ task, label: 'below' })}\nthen\nStarted below.`;
    const script = `${spawning({ task: inner, label: 'above' })}\nthen\nStarted.`;
    const { turn_id } = await live.say(session, script, { agent });
    await live.ended(turn_id);
  }
  const below = async (session: string): Promise<Row | undefined> =>
    childOf((await childOf(session))?.session_key ?? '');

  it('each reports to the one that started it, which is not complete before it has answered', async () => {
    await twoDeep('deep', 'nudge {"note":"deep"}\nthen\nFrom below.');
    const received = await live.until('the message', async () => (await live.heard('deep'))[1]);
    assert.match(received.text, /A subagent task "above" just completed/);
    // rehearsal/follow repeats what it reads: the message of the lower one is the last answer of the upper one.
    assert.match(
      received.text,
      /Result:\n\[System Message\] A subagent task "below" just completed successfully/,
    );
    assert.match(received.text, /From below\./);
    assert.deepEqual([(await childOf('deep'))?.depth, (await below('deep'))?.depth], [1, 2]);
    await live.ended(received.turn_id);
    assert.equal((await live.heard('deep')).length, 2);
  });

  it('SA-1 each may think no more than the one that started it', async () => {
    const grandchild = (thinking: string): string => spawning({ action: 'run', task: 'Below.', thinking });
    const child = `${grandchild('medium')}\n${grandchild('minimal')}\nthen\nAbove.`;
    const script = [
      spawning({ action: 'run', task: 'Too much.', thinking: 'high' }),
      spawning({ action: 'run', task: child, thinking: 'low' }),
      'Done.',
    ].join('\nthen\n');
    const { turn_id } = await live.say('thinks', script, { agent: 'thinks' });
    await live.ended(turn_id);
    const [refused] = await live.calls(turn_id);
    assert.equal(refused?.result, 'InvalidArgs: thinking: high may be more than your own (medium)');
    const { rows } = await live.pool.query<{ thinking: string; session_key: string }>(
      `select bound #>> '{subagent,thinking}' as thinking, session_key from assignments where tenant_id = $1
         and target_key = 'thinks' order by depth`,
      [live.tenant],
    );
    assert.deepEqual(
      rows.map(({ thinking }) => thinking),
      ['low', 'minimal'],
    );
    const [turn] = await live.turns(rows[0]?.session_key ?? '');
    const results = (await live.calls(turn?.id ?? '')).map(({ result }) => result ?? '');
    assert.ok(
      results.includes('InvalidArgs: thinking: medium may be more than your own (low)'),
      String(results),
    );
  });

  it('one that is stopped while it waits for its own takes them with it, and its background commands', async () => {
    const seconds = uniqueSeconds();
    const remaining = `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}\nthen\n`;
    await twoDeep('cut', 'hold {"note":"cut"}', remaining, 'runs');
    await live.probes.untilHeld('cut');
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0));
    const above = await childOf('cut');
    const id = above?.session_key.replace('subagent:', '') ?? '';
    await live.until(
      'the end of its turn',
      async () => (await live.turns(above?.session_key ?? ''))[0]?.ended_at ?? undefined,
    );
    await live.temporal.signal(`subagent/${id}`, 'stop', { by: 'ann' });
    await live.until('their ends', async () =>
      (await childOf('cut'))?.status === 'cancelled' && (await below('cut'))?.status === 'cancelled'
        ? true
        : undefined,
    );
    assert.equal(live.probes.held.size, 0);
    assert.deepEqual(runningWith(seconds), []);
  });
});
