/** DU-7: sums of model uses are exact while steps add to them, sweeps fold them and forgetting takes names out. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UsageKey } from '#domain/schema/budget.ts';
import { addUsesToSums, mergeUsage } from '#store/budgets/usage-rollup.ts';
import { readUsage } from '#store/budgets/usage-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-7 sums of usage', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`insert into tenants values ('x', 'x'), ('y', 'y')`);
  });
  after(() => database.drop());

  /** Uses of 10 tokens and $0.5; every fifth has no price. */
  const use = (tenant: string, count: number): Promise<unknown> =>
    database.pool.query(
      `insert into model_uses (tenant_id, session_key, agent_key, user_id, model, kind, input_tokens, output_tokens,
         cached_tokens, usd, created_at)
       select $1, 's' || n % 3, 'main', 'u' || n % 2, 'p/m', 'answer', 10, 1, 0, case when n % 5 > 0 then 0.5 end,
         timestamptz '2026-03-01T12:00:00Z' + make_interval(days => n % 4) from generate_series(1, $2::int) n`,
      [tenant, count],
    );
  const read = (tenant: string, by: readonly UsageKey[], filter: object = {}) =>
    readUsage(
      forTenant(database.pool, tenant),
      by,
      { from: '2026-03-01', to: '2026-03-31', confinedTo: null, ...filter },
      100,
    );
  const total = async (tenant: string, by: UsageKey): Promise<number> =>
    (await read(tenant, [by])).reduce((sum, { calls }) => sum + calls, 0);

  it('are the same before, between and after sweeps, by every key', async () => {
    await use('x', 60);
    const keys: readonly UsageKey[] = ['agent', 'user', 'session', 'model', 'day', 'kind'];
    const readAll = () => Promise.all([...keys.map((key) => read('x', [key])), read('x', keys)]);
    const recorded = await readAll();
    assert.deepEqual(recorded[1], [
      {
        user: 'u0',
        calls: 30,
        input_tokens: 300,
        output_tokens: 30,
        cached_tokens: 0,
        cost_usd: 12,
        unpriced_calls: 6,
      },
      {
        user: 'u1',
        calls: 30,
        input_tokens: 300,
        output_tokens: 30,
        cached_tokens: 0,
        cost_usd: 12,
        unpriced_calls: 6,
      },
    ]);
    assert.equal(await addUsesToSums(database.pool), 60);
    assert.equal(await addUsesToSums(database.pool), 0);
    assert.deepEqual(await readAll(), recorded);
    await use('x', 60);
    const [agent] = await read('x', ['agent']);
    assert.deepEqual([agent?.calls, agent?.cost_usd, agent?.unpriced_calls], [120, 48, 24]);
    const narrow = await read('x', ['day'], {
      session: 's1',
      user: 'u1',
      from: '2026-03-02',
      to: '2026-03-02',
    });
    assert.deepEqual(
      narrow.map(({ day, calls }) => [day, calls]),
      [['2026-03-02', 10]],
    );
    assert.deepEqual(await read('x', ['day'], { user: 'u1', confinedTo: 'u0' }), []);
    assert.deepEqual(await read('y', ['day']), []);
  });

  it('count each use once while it is added, read and unnamed at the same time', async () => {
    const db = forTenant(database.pool, 'y');
    let recorded = 0;
    const adding = new AbortController();
    const addMore = async (): Promise<void> => {
      for (let round = 0; round < 20; round += 1) {
        await use('y', 30);
        recorded += 30;
      }
    };
    const untilOver = async (work: () => Promise<unknown>): Promise<void> => {
      while (!adding.signal.aborted) await work();
    };
    const reads = async (): Promise<void> => {
      const before = recorded;
      for (const key of ['day', 'session'] as const)
        assert.ok((await total('y', key)) >= before, 'a use is missing');
    };
    await Promise.all([
      Promise.all([addMore(), addMore(), addMore()]).finally(() => adding.abort()),
      untilOver(() => addUsesToSums(database.pool)),
      untilOver(() => addUsesToSums(database.pool)),
      untilOver(() => mergeUsage(db, 'session', 's1')),
      untilOver(() => mergeUsage(db, 'user', 'u1')),
      untilOver(reads),
    ]);
    await mergeUsage(db, 'session', 's1');
    await mergeUsage(db, 'user', 'u1');
    for (const _ of ['with uses that wait', 'with none']) {
      assert.deepEqual([await total('y', 'day'), await total('y', 'session')], [1_800, 1_800]);
      const names = async (key: 'user' | 'session') =>
        (await read('y', [key])).map((row) => [row[key], row.calls]);
      assert.deepEqual(await names('user'), [
        ['', 900],
        ['u0', 900],
      ]);
      assert.deepEqual(await names('session'), [
        ['', 600],
        ['s0', 600],
        ['s2', 600],
      ]);
      await addUsesToSums(database.pool);
    }
  });
});
