/**
 * A binding to an agent that does not exist would silently match nothing. It is refused, with the place and similar
 * names.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

const TELEGRAM = {
  key: 'tg',
  type: 'telegram',
  agent: 'main',
  settings: { token: `123456:${'a'.repeat(35)}`, secret_token: 'a'.repeat(32) },
};

describe('SC-9 a name of no agent is refused', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    await api.ask('POST', '/v1/agents', { body: { key: 'writer', model: 'rehearsal/echo' } });
    await api.ask('POST', '/v1/channels', { body: { ...TELEGRAM, key: 'there' } });
    await api.ask('POST', '/v1/mcp/servers', {
      body: { name: 'echo', transport: 'streamable-http', url: 'https://example.com/mcp' },
    });
    await api.ask('POST', '/v1/webhooks', { body: { url: 'https://example.com/hook', events: ['*'] } });
    const content = Buffer.from('---\nname: tea\ndescription: Makes tea.\n---\nBoil water.').toString(
      'base64',
    );
    await api.ask('PUT', '/v1/skills/tea', { body: { files: [{ path: 'SKILL.md', content }] } });
  });
  after(() => api.stop());

  const cases: readonly (readonly [method: string, path: string, body: object, pointer: string])[] = [
    ['POST', '/v1/budgets', { scope: 'agent', subject: 'writr', usd: 1 }, 'body/subject'],
    ['PUT', '/v1/mcp/servers/echo/grants/agent/writr', {}, 'path/subject'],
    ['PUT', '/v1/skills/tea/grants/agent/writr', {}, 'path/subject'],
    [
      'POST',
      '/v1/mcp/requests',
      { server: 'echo', scope: 'agent', subject: 'writr', reason: 'x' },
      'body/subject',
    ],
    ['PUT', '/v1/secure-clis/gh', { agents: ['*', 'writr'], env: [] }, 'body/agents/1'],
    [
      'POST',
      '/v1/webhooks',
      { url: 'https://example.com/hook', events: ['*'], agent: 'writr' },
      'body/agent',
    ],
    ['PATCH', '/v1/webhooks/{id}', { agent: 'writr' }, 'body/agent'],
    ['POST', '/v1/channels', { ...TELEGRAM, agent: 'writr' }, 'body/agent'],
    ['PATCH', '/v1/channels/there', { agent: 'writr' }, 'body/agent'],
    [
      'PATCH',
      '/v1/channels/there',
      { settings: { approvals_to: { chat: '7' }, approvals_for: ['main', 'writr'] } },
      'body/settings/approvals_for/1',
    ],
    ['POST', '/v1/agent-links', { source: 'main', target: 'writr' }, 'body/target'],
    [
      'POST',
      '/v1/schedules',
      { name: 's', agent: 'writr', message: 'x', schedule: { kind: 'every', every_seconds: 60 } },
      'body/agent',
    ],
  ];
  for (const [method, path, body, pointer] of cases)
    it(`${method} ${path} ${pointer}`, async () => {
      const [{ id }] = (await api.ask('GET', '/v1/webhooks')).body.data;
      const { status, body: answer } = await api.ask(method, path.replace('{id}', id), { body });
      assert.equal(status, 422, JSON.stringify(answer));
      const message = 'there is no agent writr; did you mean writer?';
      assert.deepEqual(answer.errors, [{ pointer, message }]);
    });

  it('a budget of a team that there is not', async () => {
    const body = { scope: 'team', subject: 'nobody', usd: 1 };
    const { status, body: answer } = await api.ask('POST', '/v1/budgets', { body });
    assert.deepEqual([status, answer.errors?.[0]?.pointer], [422, 'body/subject']);
  });

  it('another tenant’s agent is none', async () => {
    const { key } = await api.makeTenant();
    const body = { scope: 'agent', subject: 'writer', usd: 1 };
    assert.equal((await api.ask('POST', '/v1/budgets', { body, key })).status, 422);
  });

  it('a binding of an agent that was deleted since can still be changed otherwise', async () => {
    await api.ask('POST', '/v1/agents', { body: { key: 'leaver', model: 'rehearsal/echo' } });
    const made = { ...TELEGRAM, key: 'left', agent: 'leaver' };
    assert.equal((await api.ask('POST', '/v1/channels', { body: made })).status, 201);
    assert.equal((await api.ask('DELETE', '/v1/agents/leaver')).status, 204);
    const { status } = await api.ask('PATCH', '/v1/channels/left', { body: { enabled: false } });
    assert.equal(status, 200);
  });
});
