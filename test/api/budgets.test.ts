/** DU-7 over HTTP: admins of a tenant create, read, change and delete its budgets. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('DU-7 /v1/budgets', () => {
  let api: TestApi;
  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  const make = (body: object, key = api.key) => api.ask('POST', '/v1/budgets', { body, key });

  it('are made, listed, changed and taken away', async () => {
    const made = await make({ scope: 'tenant', usd: 20, period: 'day', on_limit: 'stop' });
    assert.equal(made.status, 201);
    const { id } = made.body;
    assert.deepEqual([made.body.usd, made.body.period, made.body.accounts], [20, 'day', []]);
    const path = `/v1/budgets/${id}`;
    assert.deepEqual((await api.ask('GET', path)).body, made.body);
    const changed = await api.ask('PUT', path, { body: { scope: 'tenant', tokens: 5, period: 'day' } });
    assert.deepEqual([changed.status, changed.body.tokens, changed.body.usd], [200, 5, undefined]);
    assert.equal((await api.ask('PUT', path, { body: { scope: 'tenant', tokens: 5 } })).status, 422);
    assert.deepEqual(
      (await api.ask('GET', '/v1/budgets')).body.data.map((budget: { id: string }) => budget.id),
      [id],
    );
    assert.equal((await api.ask('DELETE', path)).status, 204);
    for (const method of ['GET', 'DELETE']) assert.equal((await api.ask(method, path)).status, 404);
  });

  it('keep one account: a second of the same scope, subject and period is refused', async () => {
    assert.equal((await make({ scope: 'agent', subject: 'main', usd: 1 })).status, 201);
    assert.equal((await make({ scope: 'agent', subject: 'main', tokens: 1 })).status, 409);
    assert.equal((await make({ scope: 'agent', subject: 'main', tokens: 1, period: 'day' })).status, 201);
  });

  it('refuse what cannot be kept', async () => {
    for (const body of [
      {},
      { scope: 'tenant' },
      { scope: 'world', usd: 1 },
      { scope: 'tenant', usd: 0 },
      { scope: 'tenant', usd: 1, subject: 'x' },
      { scope: 'session', usd: 1, subject: 'not a key' },
      { scope: 'agent', usd: 1, subject: 'a/b' },
      { scope: 'turn', calls: 1, period: 'day' },
      { scope: 'tenant', usd: 1, reserve: { usd: 2 } },
      { scope: 'tenant', usd: 1, limit: 2 },
    ])
      assert.equal((await make(body)).status, 400, JSON.stringify(body));
  });

  it('are the tenant’s own, and for admins to change', async () => {
    const { body } = await make({ scope: 'session', calls: 100 });
    const other = await api.makeTenant();
    assert.equal((await api.ask('GET', `/v1/budgets/${body.id}`, { key: other.key })).status, 404);
    assert.equal((await api.ask('DELETE', `/v1/budgets/${body.id}`, { key: other.key })).status, 404);
    const reader = await api.makeKey(['read']);
    assert.equal((await api.ask('GET', '/v1/budgets', { key: reader })).status, 200);
    assert.equal((await make({ scope: 'turn', calls: 1 }, reader)).status, 403);
  });
});
