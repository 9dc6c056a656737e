/** DU-5: which versions may use a database. One that may not is refused in words, and the database stays as it is. */
import { FEATURES } from '#features';
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { migrate, missingMigrations, schemaMark, schemaProblem } from '#store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-5 a database', () => {
  let database: TestDatabase;
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'migrations-'));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  /** A later version: these features, and one with migrations. */
  async function laterWith(...texts: readonly string[]) {
    const migrations = pathToFileURL(`${await mkdtemp(join(folder, 'later-'))}/`);
    for (const [at, text] of texts.entries())
      await writeFile(new URL(`000${at + 1}_later_${at + 1}.sql`, migrations), `-- Up Migration\n${text}\n`);
    return [...FEATURES, { name: 'later', migrations }];
  }
  const markOf = async () => {
    const { rows } = await database.pool.query(
      `select obj_description('migrations'::regclass, 'pg_class') as mark`,
    );
    return rows[0].mark as string;
  };

  it('of this version is used', async () => {
    assert.equal(await schemaProblem(database.url, FEATURES), undefined);
    assert.deepEqual(await migrate(database.url, FEATURES), []);
    assert.deepEqual(await missingMigrations(database.url, FEATURES), []);
  });

  it('of an earlier version gets what it lacks, once, when many start at once', async () => {
    const later = await laterWith('create table later (tenant_id text primary key);');
    assert.equal(await schemaProblem(database.url, later), undefined);
    assert.deepEqual(await missingMigrations(database.url, later), ['0001_later_1']);
    const ran = await Promise.all([1, 2, 3].map(() => migrate(database.url, later)));
    assert.deepEqual(ran.flat(), ['0001_later_1']);
    assert.equal(await markOf(), await schemaMark(later));
  });

  it('is used by versions whose features run in another order, because one needs another', async () => {
    const reversed = FEATURES.toReversed();
    assert.equal(await schemaProblem(database.url, reversed), undefined);
    const later = [...(await laterWith('create table later (tenant_id text primary key);'))].reverse();
    assert.deepEqual(await migrate(database.url, later), ['0001_later_1']);
    const last = [...later, ...(await laterWith()).slice(-1)].toReversed();
    assert.equal(await schemaProblem(database.url, last), undefined);
    assert.equal(await markOf(), await schemaMark(later.toReversed()));
  });

  it('whose migration fails stays as it was, and goes on when a version mends it', async () => {
    const later = await laterWith('create table one (id int);', 'create table two (id int); select 1 / 0;');
    await assert.rejects(migrate(database.url, later), /division by zero/);
    const { rows } = await database.pool.query(`select to_regclass('one') as one, to_regclass('two') as two`);
    assert.deepEqual(rows, [{ one: null, two: null }]);
    assert.equal(await markOf(), await schemaMark(FEATURES));
    await writeFile(new URL('0002_later_2.sql', later.at(-1)?.migrations), '-- Up Migration\nselect 1;\n');
    assert.deepEqual(await migrate(database.url, later), ['0001_later_1', '0002_later_2']);
    assert.equal(await markOf(), await schemaMark(later));
  });

  it('whose migration was killed goes on with the version that began it', async () => {
    const later = await laterWith('create table one (id int);', 'create table two (id int);');
    const mark = await schemaMark(later);
    await migrate(database.url, later);
    await database.pool.query(`delete from migrations where name = '0002_later_2'; drop table two`);
    assert.equal(await markOf(), mark);
    assert.deepEqual(await migrate(database.url, later), ['0002_later_2']);
  });

  it('of a later version is shared by the versions that it names, and left as it is by them', async () => {
    const later = await laterWith('create table later (tenant_id text primary key);');
    await migrate(database.url, later);
    assert.equal(await schemaProblem(database.url, FEATURES), undefined);
    assert.deepEqual(await migrate(database.url, FEATURES), []);
    assert.equal(await markOf(), await schemaMark(later));
    await database.pool.query(
      `comment on table migrations is 'TempoClaw 9.10.0, schema 00000000, for 9.9.0 and later'`,
    );
    const words = /made by TempoClaw 9\.10\.0, .* is older .* Start TempoClaw 9\.10\.0 or later\.$/;
    await assert.rejects(migrate(database.url, FEATURES), words);
    assert.match((await schemaProblem(database.url, FEATURES)) ?? '', words);
  });

  for (const [whose, mark, words] of [
    ['other migrations', `'TempoClaw 0.0.9, schema 00000000'`, /made by TempoClaw 0\.0\.9, schema 00000000/],
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
