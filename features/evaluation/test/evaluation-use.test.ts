/** DU-7: rounds of producing and judging count for the turn that began them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CRITIC, DRAFTS } from '#test/support/gate-scripts.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-7 the use of evaluate_loop', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      settings: 'budgets: [{ scope: turn, calls: 1000 }]',
      scripts: { maker: DRAFTS, judge: CRITIC },
      agents: [
        { key: 'maker', model: 'rehearsal/maker' },
        { key: 'judge', model: 'rehearsal/judge' },
      ],
    });
    for (const target of ['maker', 'judge'])
      await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target } });
  });
  after(() => stack.stop());

  it('counts for the turn that began it, and for each agent', async () => {
    const args = { generator: 'maker', evaluator: 'judge', task: 'A draft.', max_rounds: 2 };
    const script = `evaluate_loop ${JSON.stringify(args)}\nthen\nDone.`;
    const { turn_id } = await stack.worker.say('rounds', script);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const path = `/v1/budgets/accounts?budget=settings:turn:*:total&subject=${turn_id}`;
    assert.equal((await stack.ask('GET', path)).body.data[0]?.spent, 6);
    for (const agent of ['maker', 'judge'])
      assert.equal((await stack.ask('GET', `/v1/usage?by=agent&agent=${agent}`)).body.data[0].calls, 2);
  });
});
