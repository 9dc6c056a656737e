/** heartbeat: what an agent does with its own. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL heartbeat, the tool', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'nurse' }, { key: 'fixed', type: 'predefined' }] });
  });
  after(() => stack.stop());

  const call = async (session: string, args: object, agent = 'main', user?: string): Promise<any> => {
    const input = { agent, ...(user !== undefined && { user }) };
    const { turn_id } = await stack.worker.say(session, `heartbeat ${JSON.stringify(args)}`, input);
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0];
  };
  const onRequest = async (args: object): Promise<any> =>
    JSON.parse((await call('ward', args, 'nurse', 'ann')).result);

  it('is set, read, paused, given a checklist, tried and looked up', async () => {
    assert.deepEqual(await onRequest({ action: 'status' }), { set: false });
    const made = await onRequest({
      action: 'set',
      interval: 600,
      prompt: 'HEARTBEAT_OK',
      active_hours: '00:00-24:00',
    });
    assert.deepEqual(
      [made.enabled, made.interval, made.session, made.max_retries, made.next_runs.length],
      [true, 600, 'ward', 2, 5],
    );
    const again = await onRequest({ action: 'set', active_hours: '', ack_max_chars: 10 });
    assert.deepEqual([again.interval, again.active_hours, again.ack_max_chars], [600, undefined, 10]);
    assert.equal((await onRequest({ action: 'toggle', enabled: false })).enabled, false);
    assert.equal((await onRequest({ action: 'status' })).checklist, 'empty');
    const content = '- look at the drip';
    assert.equal((await onRequest({ action: 'set_checklist', content })).checklist, 'written');
    assert.deepEqual(await onRequest({ action: 'get_checklist' }), { content });
    const file = await stack.ask('GET', '/v1/agents/nurse/files/HEARTBEAT.md?user=ann');
    assert.equal(file.body.text, content);
    await onRequest({ action: 'test' });
    const log = await stack.worker.until('the end of the beat', async () => {
      const { logs } = await onRequest({ action: 'logs', limit: 1 });
      return logs[0]?.outcome === 'quiet' ? logs[0] : undefined;
    });
    assert.deepEqual([log.attempts, log.text], [1, 'HEARTBEAT_OK']);
    assert.deepEqual((await onRequest({ action: 'logs', offset: 1 })).logs, []);
    assert.equal((await onRequest({ action: 'status' })).last.outcome, 'quiet');
    assert.equal((await onRequest({ action: 'get' })).prompt, 'HEARTBEAT_OK');
    assert.match((await onRequest({ action: 'set', prompt: '' })).prompt, /^This is your heartbeat/);
  });

  for (const [args, words] of [
    [{ action: 'get' }, /you have no heartbeat here/],
    [{ action: 'set', interval: 10 }, /300/],
    [{ action: 'set', timezone: 'Mars/One' }, /unknown time zone/],
    [{ action: 'set', channel: 'telegram' }, /speaks in the chat in which it was set/],
    [{ action: 'toggle' }, /enabled is required/],
    [{ action: 'set_checklist' }, /content is required/],
  ] as const)
    it(`${JSON.stringify(args)} is refused`, async () => {
      const { ok, result } = await call('refused', args);
      assert.equal(ok, false);
      assert.match(result, words);
    });

  for (const user of ['ann', undefined])
    it(`VF-1: the checklist of a predefined agent is changed by no turn of ${user ?? 'nobody'}`, async () => {
      const args = { action: 'set_checklist', content: '- x' };
      const { ok, result } = await call(`fixed-${user}`, args, 'fixed', user);
      assert.equal(ok, false);
      assert.match(result, /the agent’s, which no turn changes/);
    });

  it('begins nothing once the agent may not use it', async () => {
    await call('rights', { action: 'set', prompt: 'HEARTBEAT_OK' });
    await call('rights', { action: 'set_checklist', content: '- x' });
    await stack.ask('PATCH', '/v1/agents/main', { body: { tools: { deny: ['heartbeat'] } } });
    const { body } = await stack.ask('POST', '/v1/agents/main/heartbeat/test', { body: {} });
    await stack.worker.client.workflow.getHandle(body.workflow_id).result();
    const [log] = (await stack.ask('GET', '/v1/agents/main/heartbeat/logs')).body.data;
    assert.deepEqual(
      [log.status, log.reason],
      ['refused', 'the agent main, which made it, may not use heartbeat any more'],
    );
    await stack.ask('PATCH', '/v1/agents/main', { body: { tools: {} } });
  });

  it('a subagent has none', async () => {
    const task = `heartbeat ${JSON.stringify({ action: 'set' })}`;
    const { turn_id } = await stack.worker.say('parent', `spawn ${JSON.stringify({ task, mode: 'sync' })}`);
    await stack.worker.ended(turn_id);
    const { rows } = await stack.pool.query(
      `select code from tool_calls where tenant_id = $1 and tool = 'heartbeat' and session_key like 'subagent:%'`,
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ code: 'PermissionDenied' }]);
  });
});
