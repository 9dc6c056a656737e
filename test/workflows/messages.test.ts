/** DU-4: what becomes of messages that reach a session while it is idle, busy, or continuing in a new run. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WithStartWorkflowOperation, WorkflowFailedError } from '@temporalio/client';
import { Failure } from '#domain/errors.ts';
import { INBOX_LIMITS } from '#domain/turn/turn.ts';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

/** Answers the first message after a while, and does what later ones say. */
const SLOW_THEN_FOLLOW = `
rules:
  - when: { user: take your time }
    reply: { delay: 1s, text: 'First answer.' }
  - reply: { follow: user }
`;

describe('DU-4 messages to a session', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker({
      scripts: { slow: SLOW_THEN_FOLLOW },
      agents: [{ key: 'slow', model: 'rehearsal/slow' }],
    });
  });
  after(() => live.close());

  /** Sends a message whose turn stays in a tool until `note` is released. */
  async function busy(session: string, note: string): Promise<string> {
    const receipt = await live.say(session, `hold {"note":"${note}"}`);
    await live.probes.untilHeld(note);
    return receipt.turn_id;
  }

  /**
   * Acts as after the loss of everything that Temporal has not recorded yet: the session's run starts again after its
   * first task.
   */
  async function makeAgain(session: string): Promise<{ workflowId: string; runId: string }> {
    const workflowId = workflowIdOf(live, session);
    const handle = live.client.workflow.getHandle(workflowId);
    const { runId: before } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const first = events?.find(({ workflowTaskCompletedEventAttributes: task }) => task);
    const { runId } = await live.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId: before },
      workflowTaskFinishEventId: first?.eventId ?? null,
      reason: 'test',
      requestId: session,
    });
    return { workflowId, runId };
  }

  it('starts a turn at once in an idle session', async () => {
    const receipt = await live.say('idle', 'Hello.', { id: 'hello-1' });
    assert.deepEqual(receipt, { turn_id: 'turn_hello-1', message_id: 'hello-1', mode: 'queue', ahead: 0 });
    const turn = await live.ended(receipt.turn_id);
    assert.equal(turn.status, 'completed');
    assert.equal(turn.text, 'Hello.');
  });

  it('queues: each message has a turn of its own, in the order in which they came', async () => {
    const first = await busy('queue', 'queue');
    const receipts = [];
    for (const n of [1, 2, 3]) receipts.push(await live.say('queue', `Word ${n}.`));
    assert.deepEqual(
      receipts.map((receipt) => receipt.ahead),
      [1, 2, 3],
    );
    live.probes.release('queue');
    for (const receipt of receipts) assert.equal((await live.ended(receipt.turn_id)).status, 'completed');
    const received = await live.heard('queue');
    assert.deepEqual(
      received.map((message) => message.turn_id),
      [first, ...receipts.map((receipt) => receipt.turn_id)],
    );
    assert.deepEqual(
      (await live.turns('queue')).map((turn) => turn.text),
      ['hold queue', 'Word 1.', 'Word 2.', 'Word 3.'],
    );
  });

  it('steers: the running turn reads the message at the step that the receipt promises', async () => {
    const turn = await busy('steer', 'steer');
    const receipt = await live.say('steer', 'Changed my mind.', { mode: 'steer', id: 'steer-2' });
    assert.deepEqual(receipt, { turn_id: turn, message_id: 'steer-2', mode: 'steer', ahead: 0, step: 2 });
    live.probes.release('steer');
    assert.equal((await live.ended(turn)).text, 'Changed my mind.');
    const [, steered] = await live.heard('steer');
    assert.deepEqual({ turn: steered?.turn_id, step: steered?.step }, { turn, step: 2 });
    const received = (await live.events('steer')).find((event) => event.data['message_id'] === 'steer-2');
    assert.equal(received?.type, 'message.received');
    assert.equal(received?.data['step'], 2);
  });

  it('steers by the update `steer`, bound to the turn that is meant', async () => {
    const turn = await busy('steer-update', 'steer-update');
    await assert.rejects(
      live.temporal.steer(live.tenant, 'steer-update', { id: 's-0', text: 'x', turn_id: 'turn_other' }),
      (error: unknown) => error instanceof Failure && error.type === 'StaleTurn',
    );
    const receipt = await live.temporal.steer(live.tenant, 'steer-update', {
      id: 's-1',
      text: 'Go left.',
      turn_id: turn,
    });
    assert.equal(receipt?.step, 2);
    live.probes.release('steer-update');
    assert.equal((await live.ended(turn)).text, 'Go left.');
  });

  it('an answer that was recorded before a message was taken does not end the turn when its steps are made again', async () => {
    const receipt = await live.say('again', 'Take your time.', { agent: 'slow' });
    const expected = 'hold {"note":"again"}\nthen\nSecond answer.';
    assert.equal((await live.say('again', expected, { mode: 'steer' })).step, 2);
    await live.probes.untilHeld('again');
    // The message now comes before the first step.
    await makeAgain('again');
    live.probes.release('again');
    assert.equal((await live.ended(receipt.turn_id)).text, 'Second answer.');
  });

  it('a run whose steps are made again after the turn has ended gives the outcome that is recorded', async () => {
    const { turn_id } = await live.say('over', 'All done.');
    await live.ended(turn_id);
    const { workflowId, runId } = await makeAgain('over');
    const outcome = await live.client.workflow.getHandle(workflowId, runId).result();
    assert.deepEqual(outcome, { turn_id, status: 'completed', preview: 'All done.' });
  });

  it('a message that steers an idle session starts a turn', async () => {
    const receipt = await live.say('steer-idle', 'Hi.', { mode: 'steer' });
    assert.equal(receipt.step, undefined);
    assert.equal((await live.ended(receipt.turn_id)).text, 'Hi.');
  });

  it('steering messages that come together are read by the same step', async () => {
    const script = 'hold {"note":"late-steer"}\nthen\nFirst answer.';
    const receipt = await live.say('late-steer', script);
    await live.probes.untilHeld('late-steer');
    const [one, two] = await Promise.all([
      live.say('late-steer', 'One.', { mode: 'steer' }),
      live.say('late-steer', 'Two.', { mode: 'steer' }),
    ]);
    assert.deepEqual([one.step, two.step], [2, 2]);
    live.probes.release('late-steer');
    await live.ended(receipt.turn_id);
    const received = await live.heard('late-steer');
    assert.deepEqual(
      received.map(({ turn_id, step }) => ({ turn_id, step })),
      [1, 2, 2].map((step) => ({ turn_id: receipt.turn_id, step })),
    );
  });

  it('a message that steers while the model gives its last answer gets one more step of the same turn', async () => {
    const { turn_id } = await live.say('last-answer', 'Take your time.', { agent: 'slow' });
    await live.until('the first step', async () => (await live.heard('last-answer'))[0]);
    const receipt = await live.say('last-answer', 'And now?', { mode: 'steer' });
    assert.deepEqual([receipt.turn_id, receipt.step], [turn_id, 2]);
    const turn = await live.ended(turn_id);
    assert.deepEqual([turn.text, turn.steps], ['And now?', 2]);
    const answers = (await live.events('last-answer')).filter((event) => event.type === 'message.completed');
    assert.deepEqual(
      answers.map((event) => event.data['text']),
      ['First answer.', 'And now?'],
    );
  });

  it('interrupts: the running turn is stopped now, and the message comes before those that wait', async () => {
    const turn = await busy('interrupt', 'interrupt');
    const waiting = await live.say('interrupt', 'Later.');
    const receipt = await live.say('interrupt', 'At once.', { mode: 'interrupt' });
    assert.equal(receipt.ahead, 0);
    assert.equal((await live.ended(turn)).status, 'stopped');
    await live.ended(receipt.turn_id);
    await live.ended(waiting.turn_id);
    assert.deepEqual(
      (await live.heard('interrupt')).map((message) => message.text),
      ['hold {"note":"interrupt"}', 'At once.', 'Later.'],
    );
    const [call] = await live.calls(turn);
    assert.equal(call?.code, 'Cancelled');
  });

  it('collects: messages that wait together share one turn', async () => {
    await busy('collect', 'collect');
    const receipts = [];
    for (const n of [1, 2, 3])
      receipts.push(await live.say('collect', `Part ${n}.`, { mode: 'collect', id: `part-${n}` }));
    assert.deepEqual(
      receipts.map(({ turn_id, ahead }) => ({ turn_id, ahead })),
      [1, 2, 3].map(() => ({ turn_id: 'turn_part-1', ahead: 1 })),
    );
    live.probes.release('collect');
    assert.equal((await live.ended('turn_part-1')).status, 'completed');
    const received = (await live.heard('collect')).slice(1);
    assert.deepEqual(
      received.map((message) => [message.text, message.turn_id]),
      [1, 2, 3].map((n) => [`Part ${n}.`, 'turn_part-1']),
    );
  });

  it('rejects: a busy session refuses the message and keeps nothing of it', async () => {
    const turn = await busy('reject', 'reject');
    await assert.rejects(
      live.say('reject', 'Now or never.', { mode: 'reject' }),
      (error: unknown) =>
        error instanceof Failure && error.type === 'SessionBusy' && error.message.includes(turn),
    );
    live.probes.release('reject');
    await live.ended(turn);
    const receipt = await live.say('reject', 'Now.', { mode: 'reject' });
    assert.equal((await live.ended(receipt.turn_id)).status, 'completed');
    assert.equal((await live.turns('reject')).length, 2);
  });

  it('takes a message as a signal, for systems that can only signal', async () => {
    await live.client.workflow.signalWithStart('agentTurn', {
      workflowId: workflowIdOf(live, 'signal'),
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key: 'signal' }],
      signal: 'message',
      signalArgs: [{ id: 'sig-1', text: 'By signal.' }],
    });
    assert.equal((await live.ended('turn_sig-1')).text, 'By signal.');
  });

  it('a signal that is no message changes nothing', async () => {
    const turn = await busy('bad-signal', 'bad-signal');
    const handle = live.client.workflow.getHandle(workflowIdOf(live, 'bad-signal'));
    for (const bad of [null, 'text', [], { id: 'x y', text: 'a' }, { id: 'ok', text: '' }])
      await handle.signal('message', bad);
    live.probes.release('bad-signal');
    assert.equal((await live.ended(turn)).status, 'completed');
    assert.equal((await live.turns('bad-signal')).length, 1);
  });

  for (const [what, message] of [
    ['without an id', { text: 'x' }],
    ['with an unknown mode', { id: 'a', text: 'x', mode: 'shout' }],
    ['with empty text', { id: 'a', text: '  ' }],
    ['with too much text', { id: 'a', text: 'x'.repeat(INBOX_LIMITS.textBytes + 1) }],
    ['that is no object', 'hello'],
  ] as const)
    it(`refuses a message ${what} as InvalidInput, and no turn follows`, async () => {
      const session = `bad-${what.replaceAll(' ', '-')}`;
      await assert.rejects(
        live.temporal.submit(live.tenant, session, message as never, { agent: 'main', summary: 'x' }),
        (error: unknown) => error instanceof Failure && error.type === 'InvalidInput',
      );
      assert.deepEqual(await live.turns(session), []);
    });

  it('a run that was started as another session than its id names refuses the message, says why and ends', async () => {
    const key = 'misnamed';
    for (const input of [
      {},
      null,
      'text',
      { tenant: live.tenant },
      { tenant: live.tenant, session_key: 'another' },
      { tenant: 'nobody', session_key: key },
      { tenant: live.tenant, session_key: key, carry: { seen: 5 } },
      { tenant: live.tenant, session_key: key, carry: 'on' },
      { tenant: live.tenant, session_key: key, carry: { resume: {} } },
    ]) {
      const started = new WithStartWorkflowOperation('agentTurn', {
        workflowId: workflowIdOf(live, key),
        taskQueue: live.taskQueue,
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [input],
      });
      await assert.rejects(
        live.client.workflow.executeUpdateWithStart('submit', {
          startWorkflowOperation: started,
          args: [{ id: 'misnamed-1', text: 'Hello.' }],
        }),
        (error: Error) => / session\/|leave it out$/.test((error.cause as Error).message),
        JSON.stringify(input),
      );
      const handle = await started.workflowHandle();
      await assert.rejects(handle.result(), WorkflowFailedError);
    }
    assert.deepEqual(await live.turns('another'), []);
    await live.say(key, 'Now it is right.', { id: 'misnamed-2' });
    assert.equal((await live.ended('turn_misnamed-2')).status, 'completed');
  });

  it('a session of a tenant that is not there fails its turn, and ends', async () => {
    const started = new WithStartWorkflowOperation('agentTurn', {
      workflowId: 'session/nobody/lost',
      taskQueue: live.taskQueue,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ tenant: 'nobody', session_key: 'lost' }],
    });
    await live.client.workflow.executeUpdateWithStart('submit', {
      startWorkflowOperation: started,
      args: [{ id: 'lost-1', text: 'Hello.' }],
    });
    const outcome = await (await started.workflowHandle()).result();
    assert.deepEqual(outcome, {
      turn_id: 'turn_lost-1',
      status: 'failed',
      preview: '',
      error: { code: 'NotFound', message: 'there is no tenant "nobody"' },
    });
  });

  it('the state query tells the turn, its step, what runs and what waits', async () => {
    const turn = await busy('state', 'state');
    await live.say('state', 'Next.', { id: 'next-1' });
    await live.say('state', 'And this.', { mode: 'steer' });
    assert.deepEqual(await live.state('state'), {
      turn_id: turn,
      status: 'running',
      step: 1,
      doing: ['hold: state'],
      waiting_for: [],
      queue: [{ turn_id: 'turn_next-1', messages: 1 }],
      steering: 1,
    });
    live.probes.release('state');
    await live.ended('turn_next-1');
  });
});

describe('DU-4 a message that comes twice', () => {
  let live: LiveWorker;
  before(async () => {
    live = await startLiveWorker();
  });
  after(() => live.close());

  it('is answered with its turn while that waits, runs and is over, and runs once', async () => {
    await live.say('twice', 'hold {"note":"twice"}', { id: 'first' });
    await live.probes.untilHeld('twice');
    const queued = await live.say('twice', 'Once.', { id: 'second' });
    const whileQueued = await live.temporal.submit(
      live.tenant,
      'twice',
      { id: 'second', text: 'Once.' },
      { agent: 'main', summary: 'x' },
    );
    assert.equal(whileQueued.turn_id, queued.turn_id);
    live.probes.release('twice');
    await live.ended(queued.turn_id);
    const afterEnd = await live.say('twice', 'Once.', { id: 'second' });
    assert.equal(afterEnd.turn_id, queued.turn_id);
    await live.say('twice', 'Last.', { id: 'third' });
    await live.ended('turn_third');
    assert.deepEqual(
      (await live.heard('twice')).map((message) => message.id),
      ['first', 'second', 'third'],
    );
    assert.equal((await live.turns('twice')).length, 3);
  });

  it('runs once when the same message is sent forty times at once, to an idle session', async () => {
    const receipts = await Promise.all(
      Array.from({ length: 40 }, () => live.say('storm', 'Once only.', { id: 'storm-1' })),
    );
    assert.ok(receipts.every((receipt) => receipt.turn_id === 'turn_storm-1'));
    await live.ended('turn_storm-1');
    await live.say('storm', 'End.', { id: 'storm-2' });
    await live.ended('turn_storm-2');
    assert.equal((await live.heard('storm')).length, 2);
    assert.equal((await live.events('storm')).filter((event) => event.type === 'turn.completed').length, 2);
  });

  it('as a steering message that an earlier turn has read, it starts no turn', async () => {
    const turn = await live.say('steer-twice', 'hold {"note":"steer-twice"}');
    await live.probes.untilHeld('steer-twice');
    await live.say('steer-twice', 'Left.', { mode: 'steer', id: 'left' });
    live.probes.release('steer-twice');
    await live.ended(turn.turn_id);
    await live.say('steer-twice', 'Left.', { id: 'left' });
    await live.say('steer-twice', 'End.', { id: 'end' });
    await live.ended('turn_end');
    assert.deepEqual(
      (await live.turns('steer-twice')).map((row) => row.id),
      [turn.turn_id, 'turn_end'],
    );
  });
});

describe('DU-3 an idle session', () => {
  it('has no open workflow, and its closed run still answers the state query', async () => {
    const live = await startLiveWorker();
    try {
      const receipt = await live.say('idle', 'Hello.');
      const handle = live.client.workflow.getHandle(workflowIdOf(live, 'idle'));
      const outcome: unknown = await handle.result();
      assert.deepEqual(outcome, { turn_id: receipt.turn_id, status: 'completed', preview: 'Hello.' });
      assert.equal((await handle.describe()).status.name, 'COMPLETED');
    } finally {
      await live.close();
    }
  });
});
