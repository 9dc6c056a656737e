import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { type Removal, removeInTurn } from '#store/remove-in-turn.ts';
import { pruneByRetention } from '#store/retention-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

/** Counts down from `left`; `order` notes each batch. */
function countDown(name: string, left: number, batch: number, order: string[]): Removal {
  let rest = left;
  return {
    batch,
    async remove(max) {
      order.push(name);
      const count = Math.min(rest, max);
      rest -= count;
      return count;
    },
  };
}

describe('DU-8 removal in turn', () => {
  it('removes all of each kind, and no kind has two batches while another waits', async () => {
    const sizes = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 9 }), async (lefts, batch) => {
        const order: string[] = [];
        const all = lefts.map((left, index) => countDown(String(index), left, batch, order));
        assert.equal(
          await removeInTurn(all),
          lefts.reduce((sum, left) => sum + left, 0),
        );
        const rounds = (name: string, until: number) =>
          order.slice(0, until).filter((one) => one === name).length;
        // Another kind that still has rows is at most one batch behind.
        for (const [at, name] of order.entries())
          for (const [other, left] of lefts.entries())
            if (rounds(String(other), at) * batch <= left)
              assert.ok(rounds(name, at) <= rounds(String(other), at) + 1);
      }),
    );
  });

  it('ends with the time, and returns what it has removed until then', async () => {
    const slow: Removal = { batch: 1, remove: () => sleep(30, 1) };
    const removed = await removeInTurn([slow], 100);
    assert.ok(removed > 0 && removed < 10, String(removed));
  });
});

describe('DU-8 retention of many rows', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('one sweep removes more than a batch of each tenant’s old events, and none that is kept', async () => {
    for (const tenant of ['many', 'few']) {
      await database.pool.query('insert into tenants values ($1, $1)', [tenant]);
      await database.pool.query(
        `insert into agents (tenant_id, key, revision, config) values ($1, 'a', 1, '{}')`,
        [tenant],
      );
      await database.pool.query(`insert into sessions (tenant_id, key, agent_key) values ($1, 's', 'a')`, [
        tenant,
      ]);
      await database.pool.query(
        `insert into events (tenant_id, session_key, id, type, data, at)
         select $1, 's', n, 'x', '{}', now() - make_interval(days => case when n > $2 then 0 else 40 end)
         from generate_series(1, $2 + 3) n`,
        [tenant, tenant === 'many' ? 12_345 : 20],
      );
    }
    assert.equal(await pruneByRetention(database.pool, [], { events_days: 30 }), 12_345 + 20);
    const { rows } = await database.pool.query(
      'select tenant_id, count(*)::int as n from events group by 1 order by 1',
    );
    assert.deepEqual(rows, [
      { tenant_id: 'few', n: 3 },
      { tenant_id: 'many', n: 3 },
    ]);
  });
});
