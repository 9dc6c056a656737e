import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test, type TestContext } from 'node:test';
import { loadMasterKeys } from '#store/secrets/master-key.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { resealRows } from '#store/key-rotation.ts';
import { createSealer } from '#store/seal.ts';
import { putSecret, readSealedSecrets, secretPlace } from '#store/secret-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { temporaryFolder } from '#test/support/tool-call.ts';

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  await insertTenant(database.pool, 'acme', 'Acme');
});
beforeEach(() => database.pool.query('delete from secrets'));
after(() => database.drop());

const base64 = (): string => randomBytes(32).toString('base64');

async function setWith(keys: readonly Buffer[], name: string): Promise<void> {
  const sealer = createSealer(keys);
  const sealed = sealer.seal(`value of ${name}`, secretPlace('acme', name));
  await putSecret(forTenant(database.pool, 'acme'), { name, sealed, keyId: sealer.keyId, by: 'test' });
}

async function settings(t: TestContext, key?: string, previousKeys: readonly string[] = []) {
  return { stateDir: await temporaryFolder(t), encryption: { key, previousKeys } };
}

describe('SC-2 the master key (SECURITY R12)', () => {
  test('is made at the first start, for its owner only, and once by all that start together', async (t) => {
    const input = await settings(t);
    const made = await Promise.all(
      Array.from({ length: 5 }, () => loadMasterKeys(input, database.pool, ROWS)),
    );
    const file = join(input.stateDir, 'sealing.key');
    for (const keys of made) assert.deepEqual(keys, [await readFile(file)]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
  });

  test('a file that others can read, or that is weak, refuses the start', async (t) => {
    const input = await settings(t);
    const file = join(input.stateDir, 'sealing.key');
    await writeFile(file, randomBytes(32), { mode: 0o600 });
    await chmod(file, 0o644);
    await assert.rejects(loadMasterKeys(input, database.pool, ROWS), /chmod 600/);
    for (const weak of [Buffer.alloc(32), randomBytes(16), Buffer.from('password'.repeat(4))]) {
      await writeFile(file, weak);
      await chmod(file, 0o600);
      await assert.rejects(loadMasterKeys(input, database.pool, ROWS), /not a key of 32 random bytes/);
    }
  });

  test('a missing or other key refuses the start once there are secrets', async (t) => {
    const input = await settings(t);
    const keys = await loadMasterKeys(input, database.pool, ROWS);
    await setWith(keys, 'one');
    assert.deepEqual(await loadMasterKeys(input, database.pool, ROWS), keys);
    await rm(join(input.stateDir, 'sealing.key'));
    await assert.rejects(loadMasterKeys(input, database.pool, ROWS), /put its file back/);
    await assert.rejects(loadMasterKeys(await settings(t, base64()), database.pool, ROWS), /previousKeys/);
  });

  test('a key that is set later seals; the file and previous keys still open', async (t) => {
    const input = await settings(t);
    await setWith(await loadMasterKeys(input, database.pool, ROWS), 'old');
    const older = base64();
    await setWith([Buffer.from(older, 'base64')], 'older');
    const later = { ...input, encryption: { key: base64(), previousKeys: [older] } };
    const sealer = createSealer(await loadMasterKeys(later, database.pool, ROWS));
    assert.equal(await resealRows(database.pool, ROWS, sealer.keyId, reseal), 2);
    assert.equal(
      await resealRows(database.pool, ROWS, sealer.keyId, reseal),
      0,
      'a second time there is nothing to do',
    );
    // The old keys are no longer needed.
    const only = createSealer(
      await loadMasterKeys(await settings(t, later.encryption.key), database.pool, ROWS),
    );
    for (const { name, sealed } of await readSealedSecrets(forTenant(database.pool, 'acme')))
      assert.equal(only.open(sealed, secretPlace('acme', name)), `value of ${name}`);

    function reseal(sealed: string, place: string): string {
      return sealer.seal(sealer.open(sealed, place), place);
    }
  });
});
