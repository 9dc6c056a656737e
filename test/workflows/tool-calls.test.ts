/**
 * EX-3, EX-7, DU-2: what the loop does with the calls of a step, with their failures, and with a model that repeats
 * itself.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

describe('EX calls of a step', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      scripts: {
        circles: 'rules:\n  - reply: { calls: [{ tool: peek, args: { note: same } }] }\n',
        restless: `rules:\n  - reply: { calls: [{ tool: peek, args: { note: 'step {{step}}' } }] }\n`,
        stubborn: `
rules:
  - when: { user: asked for the same call }
    reply: { text: '{{user}}' }
  - reply: { calls: [{ tool: peek, args: { note: same } }] }
`,
      },
      agents: [
        { key: 'circles', model: 'rehearsal/circles' },
        { key: 'stubborn', model: 'rehearsal/stubborn' },
        { key: 'restless', model: 'rehearsal/restless', limits: { iterations: 7 } },
        { key: 'default-limit', model: 'rehearsal/restless' },
        { key: 'narrow', tools: { deny: ['poke'] } },
      ],
    });
  });
  after(() => live.close());

  it('EX-7 run beside each other: each is running before any has ended', async () => {
    const notes = ['p1', 'p2', 'p3', 'p4'];
    const { turn_id } = await live.say('parallel', notes.map((note) => `hold {"note":"${note}"}`).join('\n'));
    for (const note of notes) await live.probes.untilHeld(note);
    for (const note of notes.toReversed()) live.probes.release(note);
    await live.ended(turn_id);
    assert.deepEqual(
      (await live.calls(turn_id)).map((call) => call.result),
      notes.map((note) => `hold ${note}`),
      'results are in the order of the calls, whichever ended first',
    );
  });

  it('EX-4 a call that fails, throws, is unknown or has wrong arguments is a result for the model', async () => {
    const { turn_id } = await live.say(
      'failures',
      'break_off {"note":"no such thing"}\nbreak_off {"note":"throw"}\nno_such_tool {}\npeek {"nota":1}\npeek {"note":"fine"}',
    );
    assert.equal((await live.ended(turn_id)).status, 'completed');
    assert.deepEqual(
      (await live.calls(turn_id)).map((call) => call.code),
      ['ExecutionFailed', 'ExecutionFailed', 'NotFound', 'InvalidArgs', null],
    );
  });

  it('PO-3 a call of a tool that the agent was not given is refused before it runs', async () => {
    const { turn_id } = await live.say('denied', 'poke {"note":"denied"}', { agent: 'narrow' });
    await live.ended(turn_id);
    assert.equal((await live.calls(turn_id))[0]?.code, 'PermissionDenied');
    assert.equal(live.probes.effects.filter((effect) => effect.note === 'denied').length, 0);
  });

  it('a tool may start a child workflow and wait for it: `wait` is one', async () => {
    const { turn_id } = await live.say('child', 'wait {"timeMs":1200,"reason":"tea"}');
    const child = live.client.workflow.getHandle(
      `wait/${live.tenant}/call_${turn_id.slice('turn_'.length)}.1.0`,
    );
    await live.until('the child', () =>
      child.describe().then(
        ({ type, status }) => (type === 'wait' && status.name === 'RUNNING' ? true : undefined),
        () => undefined,
      ),
    );
    assert.equal((await live.ended(turn_id)).status, 'completed');
    const [call] = await live.calls(turn_id);
    assert.deepEqual([call?.state, call?.ok, call?.result], ['done', true, 'Waited 1.2 s.']);
  });

  it('DU-5 local calls that end in another order than they began, and start children, replay', async () => {
    const turns = [];
    for (const [n, pauses] of [
      [120, 60, 0, 90, 30],
      [0, 0, 0, 40, 0],
      [80, 81, 79, 80, 82],
    ].entries()) {
      const calls = pauses.flatMap((ms) => [
        `begin {"note":"${ms}"}`,
        `peek {"note":"x"}`,
        `nudge {"note":"x"}`,
      ]);
      turns.push((await live.say(`mixed-${n}`, calls.join('\n'))).turn_id);
    }
    for (const turn of turns) {
      assert.equal((await live.ended(turn)).status, 'completed');
      assert.ok((await live.calls(turn)).every((call) => call.ok));
    }
    // When the worker ends, it checks that each of them replays.
  });

  it('a stop ends the child too', async () => {
    const { turn_id } = await live.say('child-stop', 'wait {"timeMs":300000}');
    const child = live.client.workflow.getHandle(
      `wait/${live.tenant}/call_${turn_id.slice('turn_'.length)}.1.0`,
    );
    await live.until('the child', () =>
      child.describe().then(
        () => true,
        () => undefined,
      ),
    );
    await live.temporal.stop(live.tenant, 'child-stop', { turn_id, level: 'now' });
    assert.equal((await live.ended(turn_id)).status, 'stopped');
    await live.until('the end of the child', async () =>
      (await child.describe()).status.name === 'CANCELLED' ? true : undefined,
    );
    const [call] = await live.calls(turn_id);
    assert.deepEqual(
      [call?.code, call?.result],
      ['Cancelled', 'Cancelled: the turn was stopped during the pause.'],
    );
  });

  it('DU-2 a call whose attempt was lost is not run again: OutcomeUnknown, and the model goes on', async () => {
    const { turn_id } = await live.say(
      'lost',
      'once_hold {"note":"lost-gate"}\nthen\nonce_hold {"note":"lost"}',
    );
    await live.probes.untilHeld('lost-gate');
    live.probes.release('lost-gate');
    await live.probes.untilHeld('lost');
    const held = live.probes.held.get('lost');
    assert.ok(held);
    // This is the state after a crash: the claim is another attempt's, and this one's result comes late.
    await live.pool.query(`update tool_calls set fence = 'another worker' where tenant_id = $1 and id = $2`, [
      live.tenant,
      held.callId,
    ]);
    live.probes.release('lost');
    await live.ended(turn_id);
    const call = (await live.calls(turn_id))[1];
    assert.deepEqual([call?.state, call?.ok, call?.code], ['done', false, 'OutcomeUnknown']);
  });

  it('EX-7 the loop guard ends a turn that asks for the identical call five times', async () => {
    const { turn_id } = await live.say('circles', 'Go.', { agent: 'circles' });
    const turn = await live.ended(turn_id);
    assert.deepEqual([turn.status, turn.error?.code, turn.steps], ['failed', 'LoopDetected', 5]);
    assert.match(turn.text ?? '', /ended by a limit: .*identical call 5 times/);
    assert.equal((await live.calls(turn_id)).length, 5);
  });

  it('EX-7 the loop guard warns the model before that', async () => {
    const { turn_id } = await live.say('stubborn', 'Go.', { agent: 'stubborn' });
    const turn = await live.ended(turn_id);
    assert.equal(turn.status, 'completed');
    assert.match(turn.text ?? '', /asked for the same call with the same arguments 3 times/);
  });

  for (const [agent, limit] of [
    ['default-limit', 20],
    ['restless', 7],
  ] as const)
    it(`EX-7 a turn ends at its limit of ${limit} model calls, and says so`, async () => {
      const { turn_id } = await live.say(agent, 'Go.', { agent });
      const turn = await live.ended(turn_id);
      assert.deepEqual([turn.status, turn.error?.code, turn.steps], ['failed', 'IterationLimit', limit]);
      assert.match(turn.error?.message ?? '', new RegExp(`its ${limit} model calls`));
      assert.match(turn.text ?? '', new RegExp(`ended by a limit: .*its ${limit} model calls`));
      const end = (await live.events(agent)).at(-1);
      assert.deepEqual([end?.type, end?.data['text']], ['turn.failed', turn.text]);
      const outcome = (await live.client.workflow.getHandle(workflowIdOf(live, agent)).result()) as Record<
        string,
        unknown
      >;
      assert.equal(outcome['status'], 'failed');
    });
});

describe('EX-6 a session that calls tools too often', () => {
  it('gets RateLimited with the seconds to wait, and the call does not run', async () => {
    const live = await startLiveWorker({
      settings: 'tools: { rate_limit_per_hour: 10, rate_limit_burst: 1 }',
    });
    try {
      const { turn_id } = await live.say('limited', 'nudge {"note":"a"}\nthen\nnudge {"note":"b"}');
      await live.ended(turn_id);
      const [first, second] = await live.calls(turn_id);
      assert.equal(first?.ok, true);
      assert.equal(second?.code, 'RateLimited');
      assert.match(second?.result ?? '', /wait \d+ s/);
      assert.deepEqual(
        live.probes.effects.map((effect) => effect.note),
        ['a'],
      );
    } finally {
      await live.close();
    }
  });
});
