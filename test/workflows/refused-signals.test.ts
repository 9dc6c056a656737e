/** DU-4, SA-2: a signal has no answer, so a refusal is in the state of the run, also once that is over. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { twoSubagents } from '#test/support/assignments.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

describe('signals that are refused', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  interface Refusals {
    readonly status: string;
    readonly refused?: number;
    readonly last_refused?: { readonly what: string; readonly by: string; readonly problem: string };
  }
  const stateOf = (workflowId: string): Promise<Refusals> =>
    live.client.workflow.getHandle(workflowId).query<Refusals>('state');

  it('a message to a session', async () => {
    const { turn_id } = await live.say('told', 'hold {"note":"told"}\nthen\nDone.');
    await live.probes.untilHeld('told');
    const workflowId = workflowIdOf(live, 'told');
    assert.equal((await stateOf(workflowId)).refused, undefined);
    for (const message of [undefined, { id: 'x/y', text: 'x', by: 'ann' }])
      await live.client.workflow.getHandle(workflowId).signal('message', message);
    live.probes.release('told');
    await live.ended(turn_id);
    await live.client.workflow.getHandle(workflowId).result();
    const { status, refused, last_refused: last } = await stateOf(workflowId);
    assert.deepEqual([status, refused, last?.what, last?.by], ['completed', 2, 'message', 'ann']);
    assert.match(last?.problem ?? '', /\bid\b/);
  });

  it('a stop of a turn that is not there, or that is none', async () => {
    const { turn_id } = await live.say('unstopped', 'hold {"note":"unstopped"}\nthen\nDone.');
    await live.probes.untilHeld('unstopped');
    const handle = live.client.workflow.getHandle(workflowIdOf(live, 'unstopped'));
    await handle.signal('stop', { turn_id, level: 'later', by: 'bob' });
    const wrong = await stateOf(handle.workflowId);
    assert.deepEqual([wrong.refused, wrong.last_refused?.what, wrong.last_refused?.by], [1, 'stop', 'bob']);
    assert.match(wrong.last_refused?.problem ?? '', /level/);
    await handle.signal('stop', { turn_id: 'turn_another', level: 'now', by: 'ann' });
    live.probes.release('unstopped');
    await live.ended(turn_id);
    await handle.result();
    const { status, refused, last_refused: last } = await stateOf(handle.workflowId);
    assert.deepEqual([status, refused, last?.what, last?.by], ['completed', 2, 'stop', 'ann']);
    assert.match(last?.problem ?? '', /turn_id/);
  });

  it('a steering of a subagent', async () => {
    const { stopped } = await twoSubagents(live, 'refusing');
    const workflowId = `subagent/${stopped}`;
    await live.client.workflow.getHandle(workflowId).signal('steer', { message: 7, by: 'ann' });
    const { status, refused, last_refused: last } = await stateOf(workflowId);
    assert.deepEqual([status, refused, last?.what, last?.by], ['running', 1, 'steer', 'ann']);
    for (const note of ['refusing-stopped', 'refusing-steered']) live.probes.release(note);
    await live.client.workflow.getHandle(workflowId).result();
  });
});
