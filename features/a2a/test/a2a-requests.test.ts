/** Requests that no SDK makes: what the protocol says of their envelope, their fields and their errors. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Stack, startStack } from '#test/support/stack.ts';

const AT = '/v1/a2a/main';

describe('IN-3 requests of A2A as the specification has them', { timeout: 100_000 }, () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack();
  });
  after(() => stack.stop());

  async function post(body: unknown, path = AT, headers: object = { 'a2a-version': '1.0' }) {
    const answer = await fetch(`${stack.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const read: any = await answer.json();
    return { status: answer.status, body: read };
  }
  const call = (method: string, params: object, path?: string, headers?: object) =>
    post({ jsonrpc: '2.0', id: 1, method, params }, path, headers);
  const message = (more: object) => ({
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'x' }], ...more },
  });

  it('answer a body that is no request of JSON-RPC with the codes that JSON-RPC has for it', async () => {
    const method = 'GetTask';
    const params = { id: 'x' };
    const wrong = [
      [],
      [{ jsonrpc: '2.0', id: 1, method, params }],
      { id: 1, method, params },
      { jsonrpc: '1.0', id: 1, method, params },
      { jsonrpc: '2.0', id: 1, params },
      { jsonrpc: '2.0', id: {}, method, params },
    ];
    for (const body of wrong) {
      const { status, body: answer } = await post(body, AT, {});
      assert.deepEqual([status, answer.error?.code], [200, -32_600], JSON.stringify(body));
    }
    const unread = await post('{"jsonrpc":');
    assert.deepEqual([unread.status, unread.body.error.code], [400, -32_700]);
    assert.equal((await call('Nothing', {})).body.error.code, -32_601);
  });

  it('are refused for fields that are not as the protocol has them', async () => {
    const wrong: [string, object, RegExp][] = [
      ['SendMessage', message({ role: undefined }), /role/],
      ['SendMessage', message({ role: 'ROLE_AGENT' }), /role/],
      ['SendMessage', message({ role: 'user' }), /role/],
      ['SendMessage', message({ parts: [{ text: {} }] }), /must be a string/],
      ['SendMessage', message({ parts: [{}] }), /no content/],
      ['ListTasks', { status: 'TASK_STATE_RUNNING' }, /status/],
    ];
    for (const [method, params, words] of wrong) {
      const { error } = (await call(method, params)).body;
      assert.equal(error?.code, -32_602, JSON.stringify(params));
      assert.match(error.message, words);
    }
    const rest = await post(message({ role: 'user' }), `${AT}/message:send`);
    assert.deepEqual([rest.status, rest.body.error.details[0].reason], [400, 'INVALID_PARAMS']);
  });

  it('find no push notification that a task does not have', async () => {
    const { result } = (await call('SendMessage', message({}))).body;
    const { error } = (await call('GetTaskPushNotificationConfig', { taskId: result.task.id, id: 'none' }))
      .body;
    assert.equal(error.code, -32_001);
  });

  it('may name the version in the query, and a patch of it', async () => {
    assert.ok((await call('ListTasks', {}, `${AT}?A2A-Version=1.0`, {})).body.result);
    assert.ok((await call('ListTasks', {}, AT, { 'a2a-version': '1.0.2' })).body.result);
    const { body } = await call('ListTasks', {}, `${AT}?A2A-Version=0.3`, {});
    assert.equal(body.error.code, -32_009);
  });

  it('get a card that clients may keep, and ask about again', async () => {
    const url = `${stack.url}${AT}/.well-known/agent-card.json`;
    const card = await fetch(url);
    const etag = card.headers.get('etag') ?? '';
    assert.match(card.headers.get('cache-control') ?? '', /max-age=\d+/);
    assert.equal((await fetch(url, { headers: { 'if-none-match': etag } })).status, 304);
    assert.equal((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status, 200);
  });
});
