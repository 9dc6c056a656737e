/** DU-7 over HTTP: admins of a tenant create, read, change and delete its budgets. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Budget } from '#domain/schema/budget.ts';
import { startApi, type TestApi } from '#test/support/stack.ts';

describe('DU-7 /v1/budgets', () => {
  let api: TestApi;
  /** As a reload changes them: in place. */
  const settingsBudgets: Budget[] = [];
  before(async () => {
    api = await startApi({ settings: { budgets: settingsBudgets } });
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

  it('say what is used now, of those of the settings and of agents too, the fullest first', async () => {
    const own = await api.makeTenant();
    const ask = (path: string, key = own.key) => api.ask('GET', path, { key });
    settingsBudgets.push({ scope: 'tenant', usd: 50, period: 'month' });
    const agent = {
      key: 'thrifty',
      type: 'open',
      model: 'rehearsal/echo',
      budgets: [{ scope: 'agent', calls: 4 }],
    };
    assert.equal((await api.ask('POST', '/v1/agents', { body: agent, key: own.key })).status, 201);
    const made = await make({ scope: 'session', tokens: 10, period: 'day', on_limit: 'stop' }, own.key);
    const account = (
      budget: string,
      subject: string,
      since: string,
      measure: string,
      spent: number,
    ): Promise<unknown> =>
      api.pool.query(
        `insert into budget_accounts (tenant_id, budget_id, subject, since, measure, spent, shard)
         select $1, $2, $3, case $4 when 'now' then (now() at time zone 'UTC')::date else $4::date end, $5, $6, s from generate_series(0, 1) s`,
        [own.tenant, budget, subject, since, measure, spent],
      );
    for (const [session, user] of [
      ['works', 'ann'],
      ['idle', 'ann'],
    ])
      await api.pool.query(
        `insert into sessions (tenant_id, key, agent_key, user_id) values ($1, $2, 'thrifty', $3)`,
        [own.tenant, session, user],
      );
    await api.pool.query(
      `insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 'turn_now', 'works', 'thrifty', 'running')`,
      [own.tenant],
    );
    await account('agent:thrifty:agent:total', 'thrifty', '1970-01-01', 'calls', 1);
    await account(made.body.id, 'works', 'now', 'tokens', 4);
    await account(made.body.id, 'works', '2001-01-01', 'tokens', 90);
    await account(made.body.id, 'idle', 'now', 'tokens', 5);
    const { data } = (await ask('/v1/budgets/use')).body;
    assert.deepEqual(
      data.map(({ budget, scope, subject, measure, spent, limit, on_limit }: Record<string, unknown>) =>
        [budget, scope, subject, measure, spent, limit, on_limit].join(' '),
      ),
      [
        `${made.body.id} session works tokens 8 10 stop`,
        'agent:thrifty:agent:total agent thrifty calls 2 4 ask',
        'settings:tenant:*:month tenant  usd 0 50 ask',
      ],
    );
    assert.ok(Date.parse(data[0].renews_at) > Date.now() && Date.parse(data[2].renews_at) > Date.now());
    assert.equal(data[1].renews_at, null);
    const bob = await api.makeKey(['read'], { tenant: own.tenant, user: 'bob' });
    const seen = (await ask('/v1/budgets/use', bob)).body.data.map((use: { subject: string }) => use.subject);
    assert.deepEqual(seen.toSorted(), ['', '', 'thrifty']);
    for (const id of ['none', 'a%00b']) assert.equal((await ask(`/v1/budgets/${id}`)).status, 404, id);
    settingsBudgets.pop();
  });
});
