/** DU-5: a database of another version is refused in words, and stays as it is. */
import { FEATURES } from '#features';
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { migrate, schemaProblem } from '#store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-5 a database', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('of this version is used', async () => {
    assert.equal(await schemaProblem(database.url, FEATURES), undefined);
    assert.deepEqual(await migrate(database.url, FEATURES), []);
  });

  for (const [whose, mark, words] of [
    ['another version', `'TempoClaw 0.0.9, schema 00000000'`, /made by TempoClaw 0\.0\.9, schema 00000000/],
    ['a version that left no mark', 'null', /made by an older version/],
  ] as const)
    it(`of ${whose} is refused with who made it and what to do, and nothing in it changes`, async () => {
      await database.pool.query(`comment on table migrations is ${mark}`);
      await database.pool.query(`update function_set set digest = 'other'`);
      await assert.rejects(migrate(database.url, FEATURES), words);
      await assert.rejects(migrate(database.url, FEATURES), /empty one .*--state-dir or DATABASE_URL/);
      assert.match((await schemaProblem(database.url, FEATURES)) ?? '', words);
      const { rows } = await database.pool.query('select digest from function_set');
      assert.deepEqual(rows, [{ digest: 'other' }]);
    });
});
