/** DU-1, TE-3: turns and tasks of teams whose workflow was ended from outside end or continue by themselves. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLostWork } from '#temporal/lost-work.ts';
import { taskSessionKey, taskWorkflowId } from '#domain/team/team.ts';
import { workflowIdOf } from '#test/support/live-worker.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const ERROR = { code: 'OutcomeUnknown', message: 'its workflow was ended from outside' };

describe('DU-1 turns whose workflow was ended from outside', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      agents: [
        { key: 'runs', tools: {}, exec: { security: 'full', ask: 'off' } },
        { key: 'm1', tools: {} },
      ],
    });
    const body = { key: 'crew', lead: 'main', members: ['m1'] };
    assert.equal((await stack.ask('POST', '/v1/teams', { body })).status, 201);
  });
  after(() => stack.stop());

  const terminate = async (workflowId: string): Promise<void> => {
    await stack.worker.client.workflow.getHandle(workflowId).terminate('by an operator');
  };
  const sweep = (reach = stack.worker.temporal, now = Date.now): Promise<number> =>
    createLostWork({ pool: stack.pool, onWrite: () => undefined, reach, now }).sweepAll(0);
  const held = async (session: string, before = '', agent = 'main'): Promise<string> => {
    const text = `${before}hold {"note":"${session}"}\nthen\nHeld.`;
    const { turn_id } = await stack.worker.say(session, text, { agent });
    await stack.worker.probes.untilHeld(session);
    return turn_id;
  };
  const runOf = (session: string) =>
    stack.worker.client.workflow.getHandle(workflowIdOf(stack.worker, session));

  const madeAt = (turn: string, minutes: number): Promise<unknown> =>
    stack.pool.query('update turns set created_at = now() + make_interval(mins => $2) where id = $1', [
      turn,
      minutes,
    ]);

  it('one that runs fails with the reason; its calls are settled, its readers told, and the session goes on', async () => {
    const turn = await held('runs');
    await terminate(workflowIdOf(stack.worker, 'runs'));
    assert.equal(await sweep(), 1);
    const ended = await stack.worker.ended(turn);
    assert.deepEqual([ended.status, ended.error], ['failed', ERROR]);
    assert.deepEqual(
      (await stack.worker.calls(turn)).map(({ state, ok }) => [state, ok]),
      [['done', false]],
    );
    const messages = (await stack.worker.events('runs')).filter(({ type }) => type === 'turn.failed');
    assert.equal(messages.length, 1);
    const { turn_id } = await stack.worker.say('runs', 'Next.');
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    await runOf('runs').result();
    assert.equal(await sweep(), 0);
  });

  it('one is ended also by a run that is given a message and the stop of it in one moment', async () => {
    const { client, taskQueue, tenant, probes } = stack.worker;
    const lost = await held('stopped-at-once');
    const workflowId = workflowIdOf(stack.worker, 'stopped-at-once');
    await terminate(workflowId);
    const handle = await client.workflow.start('agentTurn', {
      workflowId,
      taskQueue,
      args: [{ tenant, session_key: 'stopped-at-once', lost: true }],
      // The delay ensures that the first workflow task has both.
      startDelay: '3 seconds',
    });
    await handle.signal('message', { id: 'msg_unheard', text: 'Unheard.' });
    await handle.signal('stop', { turn_id: 'turn_unheard', level: 'all', by: 'ann' });
    await handle.result();
    assert.deepEqual((await stack.worker.ended(lost)).error, ERROR);
    assert.equal((await stack.worker.ended('turn_unheard')).status, 'stopped');
    probes.release('stopped-at-once');
  });

  it('what it has started ends as a stop would end it: subagents, background commands', async () => {
    const seconds = uniqueSeconds();
    const task = 'hold {"note":"child of started"}\nthen\nHeld.';
    const before = [
      `spawn ${JSON.stringify({ task })}`,
      `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}`,
    ].map((call) => `${call}\nthen\n`);
    const turn = await held('started', before.join(''), 'runs');
    await stack.worker.probes.untilHeld('child of started');
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0), 'the command runs');
    await terminate(workflowIdOf(stack.worker, 'started'));
    assert.equal(await sweep(), 1);
    await stack.worker.ended(turn);
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length === 0), 'the command is gone');
    const child = await stack.worker.until('the end of the subagent', async () => {
      const { rows } = await stack.pool.query<{ status: string }>(
        `select status from assignments where origin_session = 'started' and ended_at is not null`,
      );
      return rows[0];
    });
    assert.equal(child.status, 'cancelled');
  });

  it('one that waits for an approval: that is withdrawn', async () => {
    const { turn_id } = await stack.worker.say('asks', 'poke {"note":"asks"}');
    const approval = await stack.worker.approvalOf('asks');
    await terminate(workflowIdOf(stack.worker, 'asks'));
    assert.equal(await sweep(), 1);
    assert.deepEqual((await stack.worker.ended(turn_id)).error, ERROR);
    const { body } = await stack.ask('GET', `/v1/approvals/${approval}`);
    assert.equal(body.status, 'withdrawn');
  });

  it('one that waited behind it fails too, unless it is so young that it may be on its way', async () => {
    const first = await held('waits');
    const behind = async (text: string): Promise<string> =>
      (await stack.ask('POST', '/v1/sessions/waits/messages', { body: { text } })).body.turn_id;
    const [second, third] = [await behind('Second.'), await behind('Third.')];
    await terminate(workflowIdOf(stack.worker, 'waits'));
    for (const [turn, minutes] of [
      [first, -3],
      [second, -2],
      [third, 60],
    ] as const)
      await madeAt(turn, minutes);
    assert.equal(await sweep(), 1);
    for (const turn of [first, second]) assert.deepEqual((await stack.worker.ended(turn)).error, ERROR);
    await runOf('waits').result();
    const open = (await stack.worker.turns('waits')).filter(({ ended_at }) => ended_at === null);
    assert.deepEqual(
      open.map(({ id }) => id),
      [third],
    );
    await madeAt(third, -2);
    assert.equal(await sweep(), 1);
    assert.deepEqual((await stack.worker.ended(third)).error, ERROR);
  });

  it('while a later turn of the session runs nothing is done; after it only the lost one ends', async () => {
    const lost = await held('busy', '', 'runs');
    await terminate(workflowIdOf(stack.worker, 'busy'));
    const seconds = uniqueSeconds();
    const remaining = `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}\nthen\n`;
    const text = `${remaining}hold {"note":"later"}\nthen\nHeld.`;
    const { turn_id: later } = await stack.worker.say('busy', text, { agent: 'runs' });
    await stack.worker.probes.untilHeld('later');
    assert.equal(await sweep(), 0);
    stack.worker.probes.release('later');
    assert.equal((await stack.worker.ended(later)).status, 'completed');
    await runOf('busy').result();
    assert.equal(await sweep(), 1);
    assert.deepEqual((await stack.worker.ended(lost)).error, ERROR);
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), [], 'what the later one has left goes on');
  });

  it('a message that comes meanwhile is a turn after it', async () => {
    const turn = await held('meanwhile');
    await terminate(workflowIdOf(stack.worker, 'meanwhile'));
    const { temporal } = stack.worker;
    let pending: Promise<{ readonly turn_id: string }> | undefined;
    const reach: typeof temporal = {
      ...temporal,
      async start(start) {
        await temporal.start(start);
        pending = stack.worker.say('meanwhile', 'Next.');
      },
    };
    assert.equal(await sweep(reach), 1);
    const next = await stack.worker.ended((await pending)?.turn_id ?? '');
    assert.equal(next.status, 'completed');
    const lost = await stack.worker.ended(turn);
    assert.equal(lost.status, 'failed');
    assert.ok((lost.ended_at ?? 0) <= (next.ended_at ?? 0));
  });

  it('TE-3 a task whose workflow is gone takes itself up, and its member begins anew', async () => {
    const note = 'held task';
    const body = { subject: note, description: `hold {"note":"${note}"}\nthen\nDone.`, assignee: 'm1' };
    const { number } = (await stack.ask('POST', '/v1/teams/crew/tasks', { body })).body;
    const session = taskSessionKey('crew', number, 'm1');
    await stack.worker.probes.untilHeld(note);
    const [first] = await stack.worker.turns(session);
    await terminate(taskWorkflowId(stack.tenant, 'crew', number));
    assert.equal((await stack.worker.ended(first?.id ?? '')).status, 'stopped');
    assert.equal(await sweep(), 1);
    await stack.worker.until('the second turn', async () => (await stack.worker.turns(session))[1]);
    await stack.worker.probes.untilHeld(note);
    stack.worker.probes.release(note);
    const done = await stack.worker.until('the end of the task', async () => {
      const { body: task } = await stack.ask('GET', `/v1/teams/crew/tasks/${number}`);
      return task.status === 'completed' ? task : undefined;
    });
    assert.equal(done.owner, 'm1');
  });
});
