/**
 * DU-4: with `temporal.lingerSeconds`, a session's run waits for the next message and takes it, and ends when none
 * comes.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-4 a run that lingers', () => {
  let stack: Stack;
  let live: LiveWorker;
  before(async () => {
    stack = await startStack({
      agents: [{ key: 'runs', tools: {}, exec: { security: 'full', ask: 'off' } }],
      env: { TEMPOCLAW_LINGER_SECONDS: '3' },
    });
    live = stack.worker;
  });
  after(() => stack.stop());

  const runOf = (session: string) => live.client.workflow.getHandle(workflowIdOf(live, session));
  const runIdOf = async (session: string) => (await runOf(session).describe()).runId;

  /** Resolves with the turn's id when it has ended. */
  async function say(session: string, text: string, agent = 'main'): Promise<string> {
    const { status, body } = await stack.ask('POST', `/v1/sessions/${session}/messages?wait=60`, {
      body: { text, agent },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return (body as { turn_id: string }).turn_id;
  }

  it('takes the next messages, each a turn with its own answer, and ends when no more come', async () => {
    const first = await say('talk', 'One.');
    const run = await runIdOf('talk');
    // The answer is recorded, and sent, a moment before its workflow receives it.
    await live.until(
      'the run to wait',
      async () => (await live.state('talk'))?.status === 'idle' || undefined,
    );
    const second = await say('talk', 'datetime {}\nthen\nTwo.');
    const third = await say('talk', 'Three.');
    assert.equal(await runIdOf('talk'), run);
    const turns = await live.turns('talk');
    assert.deepEqual(
      [first, second, third].map((id) => turns.find((turn) => turn.id === id)?.text),
      ['One.', 'Two.', 'Three.'],
    );
    assert.deepEqual(await runOf('talk').result(), {
      turn_id: third,
      status: 'completed',
      preview: 'Three.',
    });
    await say('talk', 'Four.');
    assert.notEqual(await runIdOf('talk'), run);
  });

  it('takes a message that waited behind a turn, and a stop of it hits that turn alone', async () => {
    const seconds = uniqueSeconds();
    const command = `exec ${JSON.stringify({ command: `sleep ${seconds}` })}`;
    const { body } = await stack.ask('POST', '/v1/sessions/busy/messages', {
      body: { text: command, agent: 'runs' },
    });
    const { turn_id: slow } = body as { turn_id: string };
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0), 'the command runs');
    const next = say('busy', 'After it.', 'runs');
    await stack.ask('POST', '/v1/sessions/busy/stop', { body: { level: 'now', turn_id: slow } });
    await next;
    const turns = await live.turns('busy');
    assert.deepEqual(turns.map(({ status, text }) => [status, text]).sort(), [
      ['completed', 'After it.'],
      ['stopped', null],
    ]);
  });

  it('ends what the session has left running when all of it is stopped meanwhile', async () => {
    const seconds = uniqueSeconds();
    const command = { command: `sleep ${seconds}`, background: true };
    await say('left', `exec ${JSON.stringify(command)}\nthen\nLeft.`, 'runs');
    assert.notDeepEqual(runningWith(`sleep ${seconds}`), []);
    const run = await runIdOf('left');
    await stack.ask('POST', '/v1/sessions/left/stop', { body: { level: 'all' } });
    assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length === 0), 'the command is gone');
    assert.equal(await runIdOf('left'), run);
  });

  it('ends at once when its workflow is cancelled, and the next message is taken by another', async () => {
    await say('cancelled', 'One.');
    await runOf('cancelled').cancel();
    assert.equal(((await runOf('cancelled').result()) as { preview: string }).preview, 'One.');
    await say('cancelled', 'Two.');
  });

  it('is not started for longer than a cache should hold it', async () => {
    const wrong = await live.client.workflow.start('agentTurn', {
      workflowId: `session/${live.tenant}/long`,
      taskQueue: live.taskQueue,
      args: [{ tenant: live.tenant, session_key: 'long', linger_seconds: 86_400 }],
    });
    await assert.rejects(wrong.result(), (error: Error) =>
      /linger_seconds is a whole number from 1 to 3600/.test(String(error.cause)),
    );
  });
});
