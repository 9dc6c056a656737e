/** DE-6: delegated work is judged before anybody reads it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { QualityGate } from '#domain/gate/gate.ts';
import { CRITIC, DRAFTS } from '#test/support/gate-scripts.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const on = (gate: Omit<QualityGate, 'event'>): QualityGate => ({ event: 'delegation.completed', ...gate });

describe('DE-6 gates on delegations', () => {
  let stack: Stack;
  const gated: Record<string, QualityGate[]> = {
    passes: [on({ type: 'command', command: 'grep -q draft' })],
    warned: [on({ type: 'command', command: 'echo too long >&2; exit 1' })],
    revised: [on({ type: 'agent', agent: 'critic', block_on_failure: true, max_retries: 2 })],
    blocked: [
      on({ type: 'command', command: 'echo never good >&2; exit 1', block_on_failure: true, max_retries: 1 }),
    ],
    broken: [on({ type: 'agent', agent: 'ghost', block_on_failure: true, max_retries: 2 })],
    skipped: [on({ type: 'agent', agent: 'ghost' })],
    two: [
      on({ type: 'agent', agent: 'critic', max_retries: 1 }),
      on({ type: 'command', command: 'grep -q improved', block_on_failure: true }),
    ],
  };
  before(async () => {
    stack = await startStack({
      scripts: { drafts: DRAFTS, critic: CRITIC },
      agents: [
        {
          key: 'critic',
          model: 'rehearsal/critic',
          quality_gates: [on({ type: 'command', command: 'exit 1' })],
        },
        ...Object.entries(gated).map(([key, quality_gates]) => ({
          key,
          model: 'rehearsal/drafts',
          quality_gates,
        })),
      ],
    });
    for (const target of Object.keys(gated))
      await stack.ask('POST', '/v1/agent-links', { body: { source: 'main', target } });
    // Users of other systems write it like this.
    const gates = [on({ type: 'agent', agent: 'critic', block_on_failure: true, max_retries: 2 })];
    const asks = { key: 'asks', model: 'rehearsal/follow', other_config: { quality_gates: gates } };
    for (const agent of [asks, { key: 'plain', model: 'rehearsal/drafts' }])
      assert.equal((await stack.ask('POST', '/v1/agents', { body: agent })).status, 201);
    for (const target of ['plain', 'warned'])
      await stack.ask('POST', '/v1/agent-links', { body: { source: 'asks', target } });
  });
  after(() => stack.stop());

  async function judged(target: string, agent?: string) {
    const call = `delegate ${JSON.stringify({ agent_key: target, task: 'Write it.', mode: 'sync' })}`;
    const { turn_id } = await stack.worker.say(`${agent ?? ''}${target}`, `${call}\nthen\nDone.`, { agent });
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    const { body: list } = await stack.ask('GET', `/v1/delegations?target=${target}`);
    const { body } = await stack.ask('GET', `/v1/delegations/${list.data[0].id}`);
    const result = (await stack.worker.calls(turn_id))[0]?.result ?? '';
    return {
      result,
      status: body.status,
      steps: body.checks.map((check: { step: string }) => check.step),
      body,
    };
  }

  it('a command that exits 0 lets the work pass; it reads the work on its standard input', async () => {
    const { result, steps } = await judged('passes');
    assert.deepEqual([result, steps], ['the first draft', ['pass']]);
  });

  it('one that does not block keeps the result and says what it found', async () => {
    const { result, steps } = await judged('warned');
    assert.deepEqual(steps, ['warn']);
    assert.match(result, /^the first draft\n\n\[Quality gate command .* not passed: too long\]$/);
  });

  it('an agent that rejects has the work revised with its feedback, and the revised work is what is read', async () => {
    const { result, steps, body } = await judged('revised');
    assert.deepEqual([result, steps], ['the improved draft', ['retry', 'pass']]);
    assert.equal(body.checks[0].feedback, 'improve it');
  });

  it('one that blocks says so when the retries are used up, and the work is not handed out', async () => {
    const { result, steps, status } = await judged('blocked');
    assert.deepEqual([status, steps], ['failed', ['retry', 'block']]);
    assert.match(result, /blocked by quality gate .* after 1 retry: never good/);
    assert.doesNotMatch(result, /draft/);
  });

  it('a broken evaluator has not let it pass when the gate blocks, and is skipped when it does not', async () => {
    assert.deepEqual((await judged('broken')).steps, ['block']);
    const skipped = await judged('skipped');
    assert.deepEqual(skipped.steps, ['warn']);
    assert.match(skipped.result, /^the first draft\n\n\[Quality gate agent ghost not passed: skipped/);
  });

  it('those of who gives the work hold too, before those of who does it', async () => {
    const { result, steps } = await judged('plain', 'asks');
    assert.deepEqual([result, steps], ['the improved draft', ['retry', 'pass']]);
    const both = await judged('warned', 'asks');
    assert.deepEqual(both.steps, ['retry', 'pass', 'warn']);
  });

  it('two gates go one after the other, and the second sees the revised work', async () => {
    const { result, steps } = await judged('two');
    assert.deepEqual([result, steps], ['the improved draft', ['retry', 'pass', 'pass']]);
  });
});
