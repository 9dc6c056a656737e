/** DE-6: at `turn.completed`, an agent's answer is judged before anybody reads it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { QualityGate } from '#domain/gate/gate.ts';
import { CRITIC, DRAFTS } from '#test/support/gate-scripts.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

/** Judges as long as a test needs, but immediately when it sees more. */
const SLOW = `
description: Holds before it approves.
rules:
  - when: { user: 'More.' }
    reply: { text: 'APPROVED' }
  - when: { user: { regex: 'note=(?<note>\\w+)' }, step: 0 }
    reply: { calls: [{ tool: hold, args: { note: '{{match.note}}' } }] }
  - reply: { text: 'APPROVED' }
`;

const on = (gate: Omit<QualityGate, 'event'>): QualityGate => ({ event: 'turn.completed', ...gate });

describe('DE-6 gates on turns', () => {
  let stack: Stack;
  const gated: Record<string, QualityGate[]> = {
    passes: [on({ type: 'command', command: 'grep -q draft' })],
    warned: [on({ type: 'command', command: 'echo too long >&2; exit 1' })],
    revised: [
      on({ type: 'agent', agent: 'critic', block_on_failure: true, max_retries: 2 }),
      on({ type: 'command', command: 'grep -q improved', block_on_failure: true }),
    ],
    blocked: [
      on({ type: 'command', command: 'echo never good >&2; exit 1', block_on_failure: true, max_retries: 1 }),
    ],
    broken: [on({ type: 'agent', agent: 'ghost', block_on_failure: true, max_retries: 2 })],
    other: [{ event: 'delegation.completed', type: 'command', command: 'exit 1', block_on_failure: true }],
  };
  before(async () => {
    stack = await startStack({
      scripts: { drafts: DRAFTS, critic: CRITIC, slow: SLOW },
      agents: [
        // It would reject everything if gates were not silent within a gate.
        {
          key: 'critic',
          model: 'rehearsal/critic',
          quality_gates: [on({ type: 'command', command: 'exit 1', block_on_failure: true })],
        },
        {
          key: 'holding',
          quality_gates: [on({ type: 'agent', agent: 'slow', block_on_failure: true })],
        },
        { key: 'slow', model: 'rehearsal/slow' },
        ...Object.entries(gated).map(([key, quality_gates]) => ({
          key,
          model: 'rehearsal/drafts',
          quality_gates,
        })),
      ],
    });
  });
  after(() => stack.stop());

  async function judged(agent: string) {
    const { turn_id } = await stack.worker.say(agent, 'Write it.', { agent });
    const turn = await stack.worker.ended(turn_id);
    const events = await stack.worker.events(agent);
    return {
      turn,
      steps: events.filter(({ type }) => type === 'gate.checked').map(({ data }) => data['step']),
      /** What a reader of the feed could see of the agent's words, in order. */
      said: events
        .filter(({ type }) => ['message.delta', 'message.completed', 'turn.completed'].includes(type))
        .map(({ type, data }) => [type, data['text']]),
      events,
    };
  }

  it('an answer that passes is told after its gates have judged it, and only then', async () => {
    const { turn, steps, said, events } = await judged('passes');
    assert.deepEqual([turn.status, turn.text, steps], ['completed', 'the first draft', ['pass']]);
    assert.deepEqual(said, [
      ['message.completed', 'the first draft'],
      ['turn.completed', 'the first draft'],
    ]);
    const types = events.map(({ type }) => type);
    assert.ok(types.indexOf('gate.checked') < types.indexOf('message.completed'));
  });

  it('one that does not pass a gate that does not block is told with what the gate found', async () => {
    const { turn, steps } = await judged('warned');
    assert.deepEqual([turn.status, steps], ['completed', ['warn']]);
    assert.match(turn.text ?? '', /^the first draft\n\n\[Quality gate command .* not passed: too long\]$/);
  });

  it('feedback is a message of the same turn, and only the answer after it is read', async () => {
    const { turn, steps, said } = await judged('revised');
    assert.deepEqual(
      [turn.status, turn.text, steps],
      ['completed', 'the improved draft', ['retry', 'pass', 'pass']],
    );
    assert.ok(said.every(([, text]) => text === 'the improved draft'));
    const received = await stack.worker.heard('revised');
    assert.deepEqual(
      received.map(({ turn_id, step }) => [turn_id, step]),
      [
        [turn.id, 1],
        [turn.id, 2],
      ],
    );
    assert.match(received[1]?.text ?? '', /^\[Quality Gate Feedback — Retry 1\/2\]\n\nimprove it/);
    assert.equal((await stack.worker.turns('revised')).length, 1);
  });

  it('one that blocks fails the turn and says so, and the answer is told nowhere', async () => {
    const { turn, steps, said } = await judged('blocked');
    assert.deepEqual([turn.status, turn.text, steps, said], ['failed', null, ['retry', 'block'], []]);
    assert.equal(turn.error?.code, 'GateBlocked');
    assert.match(turn.error?.message ?? '', /blocked by quality gate .* after 1 retry: never good/);
  });

  it('a broken evaluator has not let it pass when the gate blocks', async () => {
    const { turn, steps } = await judged('broken');
    assert.deepEqual([turn.status, turn.error?.code, steps], ['failed', 'GateBlocked', ['block']]);
  });

  it('gates of other events are not asked', async () => {
    const { turn, steps } = await judged('other');
    assert.deepEqual([turn.status, steps], ['completed', []]);
  });

  it('a message that steers while a gate judges is read at the step that was promised, and the new answer is judged', async () => {
    const { turn_id } = await stack.worker.say('steered', 'note=steered', { agent: 'holding' });
    await stack.worker.probes.untilHeld('steered');
    const receipt = await stack.worker.say('steered', 'More.', { agent: 'holding', mode: 'steer' });
    assert.deepEqual([receipt.turn_id, receipt.step], [turn_id, 2]);
    stack.worker.probes.release('steered');
    const turn = await stack.worker.ended(turn_id);
    assert.deepEqual([turn.status, turn.steps], ['completed', 2]);
    assert.match(turn.text ?? '', /More\.$/);
    const checks = (await stack.worker.events('steered')).filter(({ type }) => type === 'gate.checked');
    assert.deepEqual(
      checks.map(({ data }) => [data['attempt'], data['step']]),
      [
        [0, 'pass'],
        [1, 'pass'],
      ],
    );
  });

  it('stopping the turn stops the agent that judges, and nothing is told', async () => {
    const { turn_id } = await stack.worker.say('halted', 'note=halted', { agent: 'holding' });
    await stack.worker.probes.untilHeld('halted');
    await stack.worker.temporal.stop(stack.worker.tenant, 'halted', { turn_id, level: 'now', by: 'ann' });
    const turn = await stack.worker.ended(turn_id);
    assert.deepEqual([turn.status, turn.text], ['stopped', null]);
    const [judging] = await stack.worker.until('the end of the judging turn', async () => {
      const turns = await stack.worker.turns(`gate:${turn_id}.g0.0`);
      return turns[0]?.ended_at ? turns : undefined;
    });
    assert.equal(judging?.status, 'stopped');
  });

  it('a call over the API is no answer of the agent and has no gates', async () => {
    const { body } = await stack.ask('POST', '/v1/tools/datetime/invoke', {
      body: { args: {}, agent: 'blocked', session_key: 'invoked' },
    });
    assert.equal(body.ok, true, JSON.stringify(body));
    assert.ok(!(await stack.worker.events('invoked')).some(({ type }) => type === 'gate.checked'));
  });
});
