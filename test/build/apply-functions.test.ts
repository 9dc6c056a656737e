import { FEATURES } from '#features';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyFunctions } from '#store/postgres/apply-functions.ts';
import { migrate } from '#store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-5 the SQL functions of a database', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const definition = async (name: string) => {
    const { rows } = await database.pool.query<{ source: string }>(
      'select prosrc as source from pg_proc where proname = $1',
      [name],
    );
    return rows.map((row) => row.source);
  };

  it('are left alone when they are those of this release', async () => {
    assert.deepEqual(await migrate(database.url, FEATURES), []);
  });

  it('replace those of another release, once, when many start together, even with other parameters', async () => {
    const [ours] = await definition('take_token');
    await database.pool.query('drop function take_token');
    await database.pool.query(
      `create function take_token(p_tenant text) returns text language sql as $$ select 'theirs' $$`,
    );
    await database.pool.query(`update function_set set digest = 'theirs'`);
    const changed = await Promise.all([1, 2, 3, 4].map(() => applyFunctions(database.url)));
    assert.equal(changed.filter(Boolean).length, 1);
    assert.deepEqual(await definition('take_token'), [ours]);
  });
});
