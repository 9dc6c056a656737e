/** DU-4: stopping a turn at its step, at once, or with everything that waits; and a stop that comes too late. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  AGENT_TURN,
  type AgentTurnInput,
  type StopInput,
  type TurnOutcome,
  type TurnState,
} from '#domain/turn/turn.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

describe('DU-4 stopping', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      scripts: { slow: 'rules:\n  - reply: { delay: 20s, text: Too late. }\n' },
      agents: [
        { key: 'slow', model: 'rehearsal/slow' },
        { key: 'runs', exec: { security: 'full', ask: 'off' } },
      ],
    });
  });
  after(() => live.close());

  async function busy(session: string, rest = ''): Promise<string> {
    const receipt = await live.say(session, `hold {"note":"${session}"}${rest}`);
    await live.probes.untilHeld(session);
    return receipt.turn_id;
  }

  const stop = (session: string, turn_id: string, level: StopInput['level'], by = 'ann'): Promise<boolean> =>
    live.temporal.stop(live.tenant, session, { turn_id, level, by });

  it('at the step: the running call ends by itself, the next step does not begin', async () => {
    const turn = await busy('step', '\nthen\npoke {"note":"step"}');
    await stop('step', turn, 'step');
    // The signal has been received when the query after it answers.
    await live.state('step');
    assert.ok(live.probes.held.has('step'), 'the call goes on');
    live.probes.release('step');
    const row = await live.ended(turn);
    assert.equal(row.status, 'stopped');
    assert.deepEqual(
      (await live.calls(turn)).map((call) => [call.tool, call.ok, call.result]),
      [['hold', true, 'hold step']],
    );
    assert.equal(live.probes.effects.filter((effect) => effect.tool === 'poke').length, 0);
  });

  it('IN-13 the state of a run that is over says what became of its turn, and that nothing is done any more', async () => {
    const turn = await busy('over-stopped');
    await stop('over-stopped', turn, 'now');
    const done = await live.say('over-done', 'Hello.');
    for (const [session, turn_id, status] of [
      ['over-stopped', turn, 'stopped'],
      ['over-done', done.turn_id, 'completed'],
    ] as const) {
      const handle = live.client.workflow.getHandle(workflowIdOf(live, session));
      await handle.result();
      const state = await handle.query<TurnState>(AGENT_TURN.queries.state);
      assert.deepEqual([state.turn_id, state.status, state.doing], [turn_id, status, []]);
    }
  });

  it('at the step: what it asks people is taken back at once, and the turn ends', async () => {
    const { turn_id } = await live.say('asks', 'poke {"note":"asks"}');
    const id = await live.approvalOf('asks');
    await stop('asks', turn_id, 'step');
    assert.equal((await live.ended(turn_id)).status, 'stopped');
    const { rows } = await live.pool.query<{ status: string }>(
      'select status from approvals where tenant_id = $1 and id = $2',
      [live.tenant, id],
    );
    assert.equal(rows[0]?.status, 'withdrawn');
    assert.deepEqual(
      (await live.calls(turn_id)).map((call) => [call.code, call.result]),
      [
        [
          'ApprovalWithdrawn',
          'ApprovalWithdrawn: the question was taken back before anybody decided: its turn was stopped, or its workflow cancelled. The call has not run.',
        ],
      ],
    );
    assert.equal(live.probes.effects.filter((effect) => effect.note === 'asks').length, 0);
  });

  it('now: the running call is cancelled and the turn says who stopped it', async () => {
    const turn = await busy('now');
    await stop('now', turn, 'now', 'bea');
    assert.equal((await live.ended(turn)).status, 'stopped');
    assert.equal(live.probes.held.has('now'), false);
    assert.equal((await live.calls(turn))[0]?.code, 'Cancelled');
    const stopped = (await live.events('now')).find((event) => event.type === 'turn.stopped');
    assert.equal(stopped?.data['by'], 'bea');
  });

  it('now, while the model answers: nothing of the answer is kept, the message is', async () => {
    const receipt = await live.say('model', 'Tell me.', { agent: 'slow' });
    await live.until('the first step', async () => (await live.heard('model'))[0]);
    await stop('model', receipt.turn_id, 'now');
    const row = await live.ended(receipt.turn_id);
    assert.deepEqual({ status: row.status, text: row.text }, { status: 'stopped', text: null });
    assert.deepEqual(
      (await live.heard('model')).map((message) => message.text),
      ['Tell me.'],
    );
  });

  it('now leaves those that wait: the next turn begins', async () => {
    const turn = await busy('leaves');
    const next = await live.say('leaves', 'Next.');
    await stop('leaves', turn, 'now');
    assert.equal((await live.ended(next.turn_id)).status, 'completed');
  });

  it('all: every waiting turn ends as stopped too, and none of them runs', async () => {
    const turn = await busy('all');
    const waiting = [];
    for (const n of [1, 2, 3]) waiting.push(await live.say('all', `poke {"note":"all-${n}"}`));
    await stop('all', turn, 'all');
    for (const id of [turn, ...waiting.map((receipt) => receipt.turn_id)])
      assert.equal((await live.ended(id)).status, 'stopped');
    const stopped = (await live.events('all')).filter((event) => event.type === 'turn.stopped');
    assert.deepEqual(
      new Set(stopped.map((event) => event.turn_id)),
      new Set([turn, ...waiting.map((receipt) => receipt.turn_id)]),
    );
    assert.equal((await live.heard('all')).length, 1);
  });

  it('all: background commands of the session end with it; now leaves them, and those of others', async () => {
    const [mine, other] = [uniqueSeconds(), uniqueSeconds()];
    const background = (session: string, seconds: string) =>
      live.say(
        session,
        `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}\nthen\nhold {"note":"${session}"}`,
        { agent: 'runs' },
      );
    const turn = await background('commands', mine);
    const next = await background('commands-other', other);
    for (const session of ['commands', 'commands-other']) await live.probes.untilHeld(session);
    assert.ok(await eventually(() => [mine, other].every((seconds) => runningWith(seconds).length > 0)));
    await stop('commands-other', next.turn_id, 'now');
    await live.ended(next.turn_id);
    await stop('commands', turn.turn_id, 'all');
    await live.ended(turn.turn_id);
    assert.deepEqual(runningWith(mine), []);
    assert.notDeepEqual(runningWith(other), []);
  });

  it('a waiting turn by its id: it alone is dropped', async () => {
    const turn = await busy('waiting');
    const [one, two] = [await live.say('waiting', 'One.'), await live.say('waiting', 'Two.')];
    await stop('waiting', one.turn_id, 'now');
    live.probes.release('waiting');
    assert.equal((await live.ended(turn)).status, 'completed');
    assert.equal((await live.ended(one.turn_id)).status, 'stopped');
    assert.equal((await live.ended(two.turn_id)).status, 'completed');
  });

  it('at once: a message that comes in one moment with its stop is recorded as stopped, and its run ends', async () => {
    const stopped = async (level: StopInput['level']): Promise<void> => {
      const session = `at-once-${level}`;
      const turn_id = `turn_${session}`;
      const handle = await live.client.workflow.start<(input: AgentTurnInput) => Promise<TurnOutcome>>(
        AGENT_TURN.type,
        {
          workflowId: workflowIdOf(live, session),
          taskQueue: live.taskQueue,
          args: [{ tenant: live.tenant, session_key: session }],
          // The delay ensures that the first workflow task has both.
          startDelay: '3 seconds',
        },
      );
      await handle.signal(AGENT_TURN.signals.message, { id: `msg_${session}`, text: 'Stopped unheard.' });
      await handle.signal(AGENT_TURN.signals.stop, { turn_id, level, by: 'ann' });
      const outcome = await handle.result();
      assert.deepEqual([outcome.turn_id, outcome.status], [turn_id, 'stopped']);
      assert.equal((await live.ended(turn_id)).status, 'stopped');
    };
    await Promise.all([stopped('step'), stopped('now'), stopped('all')]);
  });

  it('a dropped message that is sent again stays dropped', async () => {
    const turn = await busy('again');
    const dropped = await live.say('again', 'Once.', { id: 'again-1' });
    await stop('again', turn, 'all');
    await live.ended(dropped.turn_id);
    await live.say('again', 'Once.', { id: 'again-1' });
    const last = await live.say('again', 'Last.');
    assert.equal((await live.ended(last.turn_id)).status, 'completed');
    assert.deepEqual(
      (await live.heard('again')).map((message) => message.text),
      ['hold {"note":"again"}', 'Last.'],
    );
  });

  it('a late stop, at any level, never hits the next turn', async () => {
    const first = await live.say('late', 'First.');
    await live.ended(first.turn_id);
    const second = await busy('late');
    for (const level of ['step', 'now', 'all'] as const) await stop('late', first.turn_id, level);
    assert.equal((await live.state('late'))?.turn_id, second);
    assert.ok(live.probes.held.has('late'));
    live.probes.release('late');
    assert.equal((await live.ended(second)).status, 'completed');
  });

  it('a stop to a session that is idle says so', async () => {
    const turn = await live.say('idle', 'Hi.');
    await live.ended(turn.turn_id);
    await live.client.workflow.getHandle(workflowIdOf(live, 'idle')).result();
    assert.equal(await stop('idle', turn.turn_id, 'now'), false);
  });

  it('a stronger stop replaces a weaker one', async () => {
    const turn = await busy('stronger');
    await stop('stronger', turn, 'step');
    await stop('stronger', turn, 'now');
    assert.equal((await live.ended(turn)).status, 'stopped');
    assert.equal((await live.calls(turn))[0]?.code, 'Cancelled');
  });

  it('withdraws the approval that the turn waits for', async () => {
    const receipt = await live.say('withdraw', 'poke {"note":"withdraw"}');
    const approval = await live.approvalOf('withdraw');
    await stop('withdraw', receipt.turn_id, 'now');
    await live.ended(receipt.turn_id);
    const outcome: unknown = await live.client.workflow.getHandle(`approval/${approval}`).result();
    assert.equal((outcome as { status: string }).status, 'withdrawn');
    const [call] = await live.calls(receipt.turn_id);
    assert.deepEqual([call?.state, call?.ok], ['done', false]);
    assert.equal(live.probes.effects.filter((effect) => effect.note === 'withdraw').length, 0);
  });

  it('a call of a tool that is never repeated ends as Cancelled, with words that promise nothing', async () => {
    const receipt = await live.say('once', 'once_hold {"note":"once"}');
    await live.probes.untilHeld('once');
    await stop('once', receipt.turn_id, 'now');
    await live.ended(receipt.turn_id);
    const [call] = await live.calls(receipt.turn_id);
    assert.equal(call?.code, 'Cancelled');
    assert.match(call?.result ?? '', /what it had done by then stays done/);
  });

  it('cancelling the workflow in Temporal ends the turn as stopped, with nothing left open', async () => {
    const turn = await busy('cancel');
    await live.client.workflow.getHandle(workflowIdOf(live, 'cancel')).cancel();
    assert.equal((await live.ended(turn)).status, 'stopped');
    assert.equal((await live.calls(turn))[0]?.state, 'done');
  });
});

describe('DU-2 a command that is cut off and that nobody has stopped', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      agents: [{ key: 'runs', exec: { security: 'full', ask: 'off' } }],
      env: { TEMPOCLAW_SHUTDOWN_GRACE_SECONDS: '1' },
    });
  });
  after(() => live.close());

  async function runs(session: string): Promise<{ turn: string; seconds: string }> {
    const seconds = uniqueSeconds();
    const command = `echo begun; sleep ${seconds}`;
    const { turn_id } = await live.say(session, `exec ${JSON.stringify({ command })}`, { agent: 'runs' });
    assert.ok(await eventually(() => runningWith(seconds).length > 0));
    return { turn: turn_id, seconds };
  }

  async function isOfUnknownOutcome({ turn, seconds }: { turn: string; seconds: string }): Promise<void> {
    const call = await live.until('the result', async () =>
      (await live.calls(turn)).find(({ state }) => state === 'done'),
    );
    assert.equal(call.code, 'OutcomeUnknown', call.result ?? '');
    assert.match(call.result ?? '', /begun[^]*its worker|begun[^]*the worker that ran it/);
    assert.deepEqual(runningWith(seconds), []);
  }

  it('is of unknown outcome when the server does not know its activity any more', async () => {
    const run = await runs('dropped');
    await live.client.workflow.getHandle(workflowIdOf(live, 'dropped')).terminate('test');
    await isOfUnknownOutcome(run);
  });

  it('is of unknown outcome when its worker shuts down, and of what may run again nothing is recorded', async () => {
    const held = await live.say('held', 'hold {"note":"held"}');
    await live.probes.untilHeld('held');
    const run = await runs('shut-down');
    await live.shutDown();
    await isOfUnknownOutcome(run);
    assert.deepEqual(
      (await live.calls(held.turn_id)).map(({ state, code }) => [state, code]),
      [['requested', null]],
    );
  });
});
