/** DE-2: the place of cancelled work is free at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const delegate = (args: Record<string, unknown>): string => `delegate ${JSON.stringify(args)}`;

describe('DE-2 places of delegations', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'writer', model: 'rehearsal/follow' }] });
    const made = await stack.ask('POST', '/v1/agent-links', {
      body: { source: 'main', target: 'writer', max_concurrent: 2 },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => stack.stop());

  it('are free as soon as all are cancelled, also while their work is still being ended', async () => {
    const held = (note: string): string =>
      delegate({ agent_key: 'writer', task: `hold {"note":"${note}"}\nthen\nNever.` });
    const { turn_id: first } = await stack.worker.say('c', `${held('c1')}\n${held('c2')}\nthen\nGiven.`);
    await stack.worker.ended(first);
    for (const note of ['c1', 'c2']) await stack.worker.probes.untilHeld(note);
    const again = delegate({ agent_key: 'writer', task: 'Quick.' });
    const cancel = delegate({ action: 'cancel', delegation_id: 'all' });
    const { turn_id } = await stack.worker.say('c', `${cancel}\nthen\n${again}\nthen\nDone.`);
    await stack.worker.ended(turn_id);
    const results = (await stack.worker.calls(turn_id)).map(({ result }) => result ?? '');
    assert.match(results[0] ?? '', /cancelled/);
    assert.match(results[1] ?? '', /"status":"delegated"/);
  });
});
