/** DE-2: vectors as rows: by tenant and model, stored unchanged, with their last use. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEmbeddingStore, type EmbeddingStore } from '#store/embedding-store.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const PLACE = { session: 's', turn: 't' };

function useOf(model: string): ModelUse {
  const usage = { inputTokens: 3, outputTokens: 0, cachedInputTokens: 0 };
  return { kind: 'embedding', model, usage, usd: 0.25 };
}

describe('DE-2 vectors as rows', () => {
  let database: TestDatabase;
  let store: EmbeddingStore;
  before(async () => {
    database = await createTestDatabase();
    store = createEmbeddingStore(database.pool);
    for (const tenant of ['one', 'two']) {
      await database.pool.query('insert into tenants values ($1, $1)', [tenant]);
      await database.pool.query(`insert into agents values ($1, 'main', 1, '{}')`, [tenant]);
      await database.pool.query(`insert into sessions (tenant_id, key, agent_key) values ($1, 's', 'main')`, [
        tenant,
      ]);
      await database.pool.query(
        `insert into turns (tenant_id, id, session_key, agent_key, status) values ($1, 't', 's', 'main', 'running')`,
        [tenant],
      );
    }
  });
  after(() => database.drop());

  it('gives back what was saved, to the same tenant and model only', async () => {
    await store.save(
      'one',
      PLACE,
      [
        ['a', [0.5, -0.25, 0]],
        ['b', [1, 0, 0]],
      ],
      useOf('p/m'),
    );
    const found = await store.find('one', 'p/m', ['a', 'b', 'c']);
    assert.deepEqual([...found].toSorted(), [
      ['a', [0.5, -0.25, 0]],
      ['b', [1, 0, 0]],
    ]);
    assert.equal((await store.find('one', 'p/other', ['a'])).size, 0);
    assert.equal((await store.find('two', 'p/m', ['a'])).size, 0);
  });

  it('keeps the first vector of a text, notes each use, and forgets what is old', async () => {
    await store.save('two', PLACE, [['a', [1, 0]]], useOf('p/m'));
    await store.save('two', PLACE, [['a', [0, 1]]], useOf('p/m'));
    assert.deepEqual((await store.find('two', 'p/m', ['a'])).get('a'), [1, 0]);
    const { rows } = await database.pool.query(
      `select count(*)::int as uses, sum(usd)::float8 as usd, (select cost_usd::float8 from turns where tenant_id = 'two') as turn
       from model_uses where tenant_id = 'two' and kind = 'embedding' and agent_key = 'main'`,
    );
    assert.deepEqual(rows, [{ uses: 2, usd: 0.5, turn: 0.5 }]);
    await database.pool.query(
      `update embeddings set created_at = now() - interval '91 days' where tenant_id = 'two'`,
    );
    await store.save('two', PLACE, [['b', [0, 1]]], useOf('p/m'));
    assert.deepEqual([...(await store.find('two', 'p/m', ['a', 'b'])).keys()], ['b']);
  });
});
