import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { typesOfTables } from '#test/support/tables.ts';

describe('DU-5 the types of the tables', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  it('are those of the schema', async () => {
    for (const [file, text] of await typesOfTables(database.pool)) {
      const expected = execFileSync('biome', ['format', `--stdin-file-path=${file}`], {
        input: text,
        encoding: 'utf8',
      });
      if (process.env['TEST_WRITE']) await writeFile(file, expected);
      const found = await readFile(file, 'utf8').catch(() => '');
      assert.equal(found, expected, `TEST_WRITE=1 npm test -- ${import.meta.filename}`);
    }
  });
});
