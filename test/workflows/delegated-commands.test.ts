/** EX-3, DE-2: `all` stops what completed delegations have left running, and what theirs have. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, runningWith, uniqueSeconds } from '#test/support/processes.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DE-2 background commands of delegations', () => {
  let stack: Stack;
  before(async () => {
    const runs = { tools: {}, exec: { security: 'full', ask: 'off' } } as const;
    stack = await startStack({
      agents: [
        { key: 'main', ...runs },
        { key: 'middle', model: 'rehearsal/follow', ...runs },
        { key: 'last', model: 'rehearsal/follow', ...runs },
      ],
    });
    for (const [source, target] of [
      ['main', 'middle'],
      ['middle', 'last'],
    ])
      await stack.ask('POST', '/v1/agent-links', { body: { source, target } });
  });
  after(() => stack.stop());

  it('end with the session that gave the work, when it is stopped with all', async () => {
    const [near, far] = [uniqueSeconds(), uniqueSeconds()];
    const abandon = (seconds: string): string =>
      `exec ${JSON.stringify({ command: `sleep ${seconds}`, background: true })}`;
    const gives = (agent_key: string, task: string): string =>
      `delegate ${JSON.stringify({ agent_key, task, mode: 'sync' })}`;
    const further = gives('last', `${abandon(far)}\nthen\nLeft.`);
    const task = `${abandon(near)}\nthen\n${further}\nthen\nLeft.`;
    const { turn_id } = await stack.worker.say('gives', `${gives('middle', task)}\nthen\nDone.`);
    assert.equal((await stack.worker.ended(turn_id)).status, 'completed');
    for (const seconds of [near, far])
      assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length > 0), 'the command runs');
    await stack.worker.until('the stop', async () => {
      const { status } = await stack.ask('POST', '/v1/sessions/gives/stop', { body: { level: 'all' } });
      return status === 202 ? true : undefined;
    });
    for (const seconds of [near, far])
      assert.ok(await eventually(() => runningWith(`sleep ${seconds}`).length === 0), 'the command is gone');
  });
});
