/** IN-9: the session of a chat is made by the chat. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('IN-9 sessions of chats', { timeout: 60_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
    const body = { key: 'shop', type: 'web', agent: 'main', settings: {} };
    const made = await stack.ask('POST', '/v1/channels', { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  });
  after(() => stack.stop());

  it('cannot be taken before their chat by a key of a user: by no message, fork, schedule or heartbeat', async () => {
    const key = await stack.makeKey(['read', 'run'], { user: 'ann' });
    const sent = await stack.ask('POST', '/v1/sessions/anns/messages?wait=60', {
      key,
      body: { text: 'Hello.' },
    });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
    const session = 'shop:bobs-chat';
    const job = {
      agent: 'main',
      name: 'job',
      message: 'Hello.',
      schedule: { kind: 'every', every_seconds: 3600 },
    };
    const schedule = await stack.ask('POST', '/v1/schedules', { key, body: job });
    assert.equal(schedule.status, 201, JSON.stringify(schedule.body));
    const requests: [string, string, object][] = [
      ['POST', `/v1/sessions/${session}/messages`, { text: 'Hello.' }],
      ['POST', '/v1/sessions/anns/forks', { key: session }],
      ['POST', '/v1/schedules', { ...job, name: 'other', session }],
      ['PATCH', `/v1/schedules/${schedule.body.id}`, { session }],
      ['PATCH', '/v1/agents/main/heartbeat', { session }],
    ];
    for (const [method, path, body] of requests) {
      const { status, body: answer } = await stack.ask(method, path, { key, body });
      assert.equal(status, 403, `${method} ${path}: ${JSON.stringify(answer)}`);
      assert.match(answer.detail, /shop is a chat channel/);
    }
    const { rows } = await stack.pool.query('select key from sessions where key = $1', [session]);
    assert.deepEqual(rows, []);
    const own = await stack.ask('PATCH', `/v1/schedules/${schedule.body.id}`, {
      key,
      body: { session: 'new' },
    });
    assert.equal(own.status, 200, JSON.stringify(own.body));
  });
});
