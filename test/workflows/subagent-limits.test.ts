/** SA-1: a refused spawn says which limit is reached and what runs, and a terminated one frees its place. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker } from '#test/support/live-worker.ts';

describe('SA-1 limits of the tool', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({ settings: 'subagents: { maxConcurrent: 2, maxChildren: 1 }' });
  });
  after(() => live.close());

  const holding = (note: string): string =>
    `spawn ${JSON.stringify({ task: `hold {"note":"${note}"}\nthen\nHeld.`, label: note })}\nthen\nOk.`;
  const spawn = async (session: string, note: string): Promise<string> => {
    const { turn_id } = await live.say(session, holding(note));
    await live.ended(turn_id);
    return (await live.calls(turn_id))[0]?.result ?? '';
  };

  it('names the limit and the caller’s own, and of the others only how many', async () => {
    assert.match(await spawn('a', 'a1'), /"status":"accepted"/);
    assert.match(
      await spawn('a', 'a2'),
      /^RateLimited: max children per agent reached \(1\/1\)\. Running: sub-\w{16} "a1"\. /,
    );
    assert.match(await spawn('b', 'b1'), /"status":"accepted"/);
    const refused = await spawn('c', 'c1');
    assert.match(
      refused,
      /^RateLimited: max concurrent subagents reached \(2\/2\)\. Running: 2 of other sessions\. /,
    );
    for (const note of ['a1', 'b1']) await live.probes.untilHeld(note);
  });

  it('gives the place of one whose workflow was terminated to the next, and tells its parent', async () => {
    const { rows } = await live.pool.query<{ id: string }>(
      `select id from assignments where tenant_id = $1 and label = 'a1'`,
      [live.tenant],
    );
    await live.client.workflow.getHandle(`subagent/${rows[0]?.id}`).terminate('by an operator');
    assert.match(await spawn('d', 'd1'), /"status":"accepted"/);
    const notice = await live.until('the message', async () =>
      (await live.heard('a')).find(({ text }) => text.startsWith('[System Message]')),
    );
    assert.match(
      notice.text,
      /A subagent task "a1" just failed: OutcomeUnknown: its workflow was ended from outside/,
    );
    await live.probes.untilHeld('d1');
    for (const note of ['b1', 'd1']) live.probes.release(note);
  });

  it('refuses a model that is not there, before anything is kept', async () => {
    const { turn_id } = await live.say('m', 'spawn {"task":"x","model":"nowhere/none"}\nthen\nOk.');
    await live.ended(turn_id);
    assert.match((await live.calls(turn_id))[0]?.result ?? '', /^InvalidArgs: model: /);
  });
});
