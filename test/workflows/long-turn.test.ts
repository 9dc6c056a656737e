/** DU-3: a turn continues in a new run at a step boundary, and carries everything that no row has yet. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

/** Either exceeds RUN_LIMITS of workflows/steps/run-limits.ts: this many messages, or this many bytes. */
const MANY = { signals: 1_001, text: 'Flood.' };
const LARGE = { signals: 65, text: 'Flood. '.repeat(9_000) };

describe('DU-3 a turn that goes on in a new run', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  const handle = (session: string) => live.client.workflow.getHandle(workflowIdOf(live, session));
  const runIdOf = async (session: string): Promise<string> => (await handle(session).describe()).runId;

  /** Enough signals that the run ends at the next step boundary; all of them are of one message, received once. */
  async function flood(session: string, id: string, { signals, text }: typeof MANY): Promise<void> {
    const target = handle(session);
    for (let sent = 0; sent < signals; sent += 91)
      await Promise.all(
        Array.from({ length: Math.min(91, signals - sent) }, () => target.signal('message', { id, text })),
      );
    // This answers once the run has received them: the server reports its size without what comes during a task.
    await live.state(session);
  }

  it('keeps its queue, its steering, its stops and the ids it has seen', async () => {
    const script = 'hold {"note":"carry"}\nthen\nhold {"note":"carried"}\nthen\nDone.';
    const { turn_id: turn } = await live.say('carry', script, { id: 'carry-1' });
    await live.probes.untilHeld('carry');
    const before = await runIdOf('carry');
    const dropped = await live.say('carry', 'Dropped.', { id: 'carry-dropped' });
    const queued = await live.say('carry', 'Queued.', { id: 'carry-queued' });
    await live.temporal.stop(live.tenant, 'carry', { turn_id: dropped.turn_id, level: 'now' });
    await flood('carry', 'carry-flood', MANY);
    live.probes.release('carry');
    await live.probes.untilHeld('carried');
    assert.notEqual(await runIdOf('carry'), before);

    const state = await live.state('carry');
    assert.equal(state?.turn_id, turn);
    assert.equal(state?.step, 2);
    assert.deepEqual(
      state?.queue.map((entry) => entry.turn_id),
      [queued.turn_id, 'turn_carry-flood'],
    );
    const again = await live.say('carry', 'Queued.', { id: 'carry-queued', mode: 'collect' });
    assert.equal(again.duplicate, true);
    live.probes.release('carried');
    assert.equal((await live.ended(turn)).status, 'completed');
    assert.equal((await live.ended(queued.turn_id)).status, 'completed');
    assert.equal((await live.ended('turn_carry-flood')).status, 'completed');
    assert.equal((await live.ended(dropped.turn_id)).status, 'stopped');
    assert.equal((await live.turns('carry')).length, 4);
    assert.equal((await live.heard('carry')).length, 3);
  });

  it('reads a steering message that was promised before the change at the step promised', async () => {
    const { turn_id: turn } = await live.say('steered', 'hold {"note":"steered"}\nthen\nDone.');
    await live.probes.untilHeld('steered');
    const before = await runIdOf('steered');
    const receipt = await live.say('steered', 'hold {"note":"second"}', { mode: 'steer' });
    assert.equal(receipt.step, 2);
    await flood('steered', 'steered-flood', LARGE);
    live.probes.release('steered');
    await live.probes.untilHeld('second');
    assert.notEqual(await runIdOf('steered'), before);
    const [, steered] = await live.heard('steered');
    assert.deepEqual([steered?.turn_id, steered?.step], [turn, 2]);
    live.probes.release('second');
    assert.equal((await live.ended(turn)).status, 'completed');
  });
});

describe('DU-3 a turn of many steps', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      agents: [{ key: 'long', limits: { iterations: 100 } }],
      // A tenth of a run's limit, so that a tenth of the steps shows the same.
      changeWorkflows(code) {
        assert.match(code, /events: 3000,/, 'the bound is in the bundle');
        return code.replace('events: 3000,', 'events: 300,');
      },
    });
  });
  after(() => live.close());

  it('has each step once, in small runs', async () => {
    // With its calls, one of which is an activity of its own, a step has some 25 events of history.
    const steps = 30;
    const toolAt = (call: number): string => (call === 0 ? 'nudge' : 'peek');
    const notes = (n: number): string[] => Array.from({ length: 17 }, (_, call) => `${n}.${call}`);
    const script = Array.from({ length: steps }, (_, n) =>
      notes(n)
        .map((note, at) => `${toolAt(at)} {"note":"${note}"}`)
        .join('\n'),
    ).join('\nthen\n');
    const { turn_id: turn } = await live.say('steps', script, { agent: 'long' });
    const run = live.client.workflow.getHandle(workflowIdOf(live, 'steps'));
    const { runId } = await run.describe();
    const row = await live.ended(turn);
    assert.deepEqual([row.status, row.steps], ['completed', steps + 1]);
    const calls = await live.calls(turn);
    assert.deepEqual(
      calls.map((call) => call.result),
      Array.from({ length: steps }, (_, n) => notes(n).map((note, at) => `${toolAt(at)} ${note}`)).flat(),
    );
    const last = await run.describe();
    assert.notEqual(last.runId, runId, 'the turn took more than one run');
    assert.ok(last.historyLength < 400);
  });
});
