/** What several processes of a new deployment make when they start together. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { prepareFirstStart } from '#api/server/first-start.ts';
import { hashSecret } from '#api/server/auth.ts';
import { createTestDatabase } from '#test/support/test-database.ts';

test('IN-9 processes that start together, each with a folder of its own, make one admin key', async (t) => {
  const database = await createTestDatabase();
  const folders = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'first-start-'))));
  t.after(async () => {
    await database.drop();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
  });
  // Both have looked for a key before either has written one.
  await database.pool.query(
    `create function pause() returns trigger language plpgsql as 'begin perform pg_sleep(0.3); return new; end'`,
  );
  await database.pool.query(
    'create trigger pause before insert on api_keys for each row execute function pause()',
  );
  const files = await Promise.all(folders.map((folder) => prepareFirstStart(database.pool, folder)));
  const [file, none] = files.sort();
  assert.ok(file);
  assert.equal(none, undefined);
  const { rows } = await database.pool.query<{ hash: Buffer }>('select hash from api_keys');
  assert.deepEqual(
    rows.map(({ hash }) => hash.toString('hex')),
    [hashSecret((await readFile(file, 'utf8')).trim()).toString('hex')],
  );
});
