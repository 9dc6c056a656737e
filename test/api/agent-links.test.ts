/** DE-1: links between agents over HTTP: who may make them, what they must be, and changing and deleting them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('DE-1 /v1/agent-links', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
    for (const key of ['lead', 'writer', 'critic']) {
      const made = await api.ask('POST', '/v1/agents', { body: { key, model: 'rehearsal/echo' } });
      assert.equal(made.status, 201, JSON.stringify(made.body));
    }
  });
  after(() => api.stop());

  const link = (body: Record<string, unknown>) => api.ask('POST', '/v1/agent-links', { body });

  it('is made with what is not said set to the usual, listed by either agent, and made only once', async () => {
    const made = await link({ source: 'lead', target: 'writer' });
    assert.equal(made.status, 201);
    const { direction, status, max_concurrent, settings } = made.body;
    assert.deepEqual([direction, status, settings], ['outbound', 'active', {}]);
    assert.ok(Number.isInteger(max_concurrent));
    for (const agent of ['lead', 'writer']) {
      const { body } = await api.ask('GET', `/v1/agent-links?agent=${agent}`);
      assert.deepEqual(
        body.data.map(({ id }: { id: string }) => id),
        [made.body.id],
      );
    }
    assert.equal((await link({ source: 'lead', target: 'writer' })).status, 409);
  });

  it('names the agent that is not there', async () => {
    for (const [source, target, missing] of [
      ['lead', 'ghost', ['target: there is no agent ghost']],
      ['ghost', 'lead', ['source: there is no agent ghost']],
      ['ghost', 'spook', ['source: there is no agent ghost', 'target: there is no agent spook']],
    ] as const) {
      const { status, body } = await link({ source, target });
      assert.deepEqual([status, body.detail], [422, missing.map((each) => `body/${each}`).join('\n')]);
    }
  });

  it('is changed field by field, and what is not given stays', async () => {
    const { body: made } = await link({
      source: 'lead',
      target: 'critic',
      max_concurrent: 2,
      settings: { user_allow: ['ann'] },
      description: 'reviews',
    });
    const path = `/v1/agent-links/${made.id}`;
    const changed = await api.ask('PATCH', path, { body: { status: 'disabled', description: null } });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const { body } = await api.ask('GET', path);
    assert.deepEqual(
      [body.status, body.description, body.max_concurrent, body.settings],
      ['disabled', null, 2, { user_allow: ['ann'] }],
    );
    const replaced = await api.ask('PATCH', path, { body: { settings: { user_deny: ['bob'] } } });
    assert.deepEqual(replaced.body.settings, { user_deny: ['bob'] });
  });

  it('is deleted once', async () => {
    const { body: made } = await link({ source: 'writer', target: 'critic' });
    const path = `/v1/agent-links/${made.id}`;
    assert.equal((await api.ask('DELETE', path)).status, 204);
    assert.equal((await api.ask('DELETE', path)).status, 404);
    assert.equal((await api.ask('PATCH', path, { body: { status: 'active' } })).status, 404);
    assert.equal((await api.ask('GET', path)).status, 404);
  });

  for (const [what, body, status] of [
    ['an agent that is not there', { source: 'lead', target: 'ghost' }, 422],
    ['itself', { source: 'lead', target: 'lead' }, 400],
    ['less than none at once', { source: 'critic', target: 'lead', max_concurrent: -1 }, 400],
    [
      'a role that is no scope',
      { source: 'critic', target: 'lead', settings: { require_role: 'king' } },
      400,
    ],
    ['settings that nobody knows', { source: 'critic', target: 'lead', settings: { users: ['x'] } }, 400],
  ] as const)
    it(`is refused for ${what}`, async () => {
      const { status: value, body: problem } = await link(body);
      assert.equal(value, status, JSON.stringify(problem));
    });

  it('is an admin’s to make, and no other tenant’s to see', async () => {
    const { body: made } = await link({ source: 'critic', target: 'writer' });
    const runner = await api.makeKey(['run', 'read']);
    const body = { source: 'writer', target: 'lead' };
    assert.equal((await api.ask('POST', '/v1/agent-links', { key: runner, body })).status, 403);
    const path = `/v1/agent-links/${made.id}`;
    assert.equal((await api.ask('DELETE', path, { key: runner })).status, 403);
    const { key } = await api.makeTenant();
    for (const method of ['GET', 'PATCH', 'DELETE'] as const)
      assert.equal(
        (await api.ask(method, path, { key, ...(method === 'PATCH' ? { body: { status: 'active' } } : {}) }))
          .status,
        404,
        method,
      );
    assert.equal((await api.ask('GET', path)).status, 200);
  });
});
