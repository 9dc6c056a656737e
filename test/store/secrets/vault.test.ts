import { ROWS } from '#test/support/rows.ts';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSecrets, type Secrets } from '#store/secrets/open-secrets.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { deleteSecret, putSecret, secretPlace } from '#store/secret-store.ts';
import { SecretProblem } from '#domain/secret.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const KEY = randomBytes(32).toString('base64');
const VALUE = 'canary/value+of=acme-4711';

let database: TestDatabase;
/** Two processes of one deployment. */
let writer: Secrets;
let reader: Secrets;

const open = (): Promise<Secrets> =>
  openSecrets({
    rows: ROWS,
    settings: { stateDir: '/nonexistent', encryption: { key: KEY, previousKeys: [] } },
    databaseUrl: database.url,
    pool: database.pool,
    deploymentValues: ['deployment-value-1234'],
    onError: () => undefined,
  });

before(async () => {
  database = await createTestDatabase();
  for (const tenant of ['default', 'acme', 'other']) await insertTenant(database.pool, tenant, tenant);
  writer = await open();
  reader = await open();
});

after(async () => {
  await writer.close();
  await reader.close();
  await database.drop();
});

async function set(tenant: string, name: string, value: string): Promise<void> {
  const sealed = writer.sealer.seal(value, secretPlace(tenant, name));
  await putSecret(forTenant(database.pool, tenant), { name, sealed, keyId: writer.sealer.keyId, by: 'test' });
}

/** What the other process makes of a text once it was notified; before, it does not know a new secret. */
async function until(expected: string, read: () => Promise<string>): Promise<void> {
  const words = (): Promise<string> => read().catch(String);
  let last = await words();
  for (let tries = 0; last !== expected && tries < 500; tries++) {
    await sleep(20);
    last = await words();
  }
  assert.equal(last, expected);
}

describe('SC-2 secrets of a tenant', () => {
  test('a reference stands for the value, alone or within a text, and only in its tenant', async () => {
    await set('acme', 'api', VALUE);
    assert.equal(await writer.vault.resolve('acme', 'secret://api'), VALUE);
    assert.equal(await writer.vault.resolve('acme', 'Bearer secret://api'), `Bearer ${VALUE}`);
    assert.equal(await writer.vault.resolve('acme', 'plain'), 'plain');
    await assert.rejects(writer.vault.resolve('other', 'secret://api'), SecretProblem);
    await assert.rejects(
      writer.vault.resolve('acme', 'secret://'),
      /set it with: npx tempoclaw secrets set NAME/,
    );
  });

  test('a value that looks like a reference is not read again', async () => {
    await set('acme', 'nested', 'secret://api');
    await until('secret://api', () => reader.vault.resolve('acme', 'secret://nested'));
  });

  test('another process hides the value in every form, for its tenant and in logs', async () => {
    const forms = [VALUE, Buffer.from(VALUE).toString('base64'), encodeURIComponent(VALUE)];
    for (const form of forms)
      await until('x [REDACTED] y', async () => (await reader.vault.scrubberOf('acme')).text(`x ${form} y`));
    assert.equal(reader.vault.scrubberOfAll().text(`x ${VALUE} y`), 'x [REDACTED] y');
    assert.equal(
      (await reader.vault.scrubberOf('other')).text(`x ${VALUE} y`),
      `x ${VALUE} y`,
      'no oracle for others',
    );
  });

  test('a change is heard by other processes; the former value stays hidden, since it may still be valid', async () => {
    assert.equal(await reader.vault.resolve('acme', 'secret://api'), VALUE);
    await set('acme', 'api', 'a-newer-value-4712');
    await until('a-newer-value-4712', () => reader.vault.resolve('acme', 'secret://api'));
    const scrubber = await reader.vault.scrubberOf('acme');
    assert.equal(scrubber.text(`a-newer-value-4712 ${VALUE}`), '[REDACTED] [REDACTED]');
    await deleteSecret(forTenant(database.pool, 'acme'), 'api');
    await until('gone', () => reader.vault.resolve('acme', 'secret://api').catch(() => 'gone'));
  });

  test('values of the deployment are hidden from everybody, also those that a setting refers to', async () => {
    await set('default', 'provider', 'provider-key-of-operator-99');
    assert.equal(await writer.vault.resolveSetting('secret://provider'), 'provider-key-of-operator-99');
    const scrubber = await writer.vault.scrubberOf('other');
    assert.equal(scrubber.text('deployment-value-1234 provider-key-of-operator-99'), '[REDACTED] [REDACTED]');
    assert.equal(scrubber.text(KEY), '[REDACTED]', 'the master key itself');
  });

  test('a row that was moved to another tenant does not open (SECURITY R8)', async () => {
    const sealed = writer.sealer.seal(VALUE, secretPlace('acme', 'moved'));
    await putSecret(forTenant(database.pool, 'other'), {
      name: 'moved',
      sealed,
      keyId: writer.sealer.keyId,
      by: 'test',
    });
    await set('other', 'own', 'a-value-of-the-other-88');
    await until('a-value-of-the-other-88', () => reader.vault.resolve('other', 'secret://own'));
    await assert.rejects(reader.vault.resolve('other', 'secret://moved'), /cannot be opened/);
    await deleteSecret(forTenant(database.pool, 'other'), 'moved');
  });
});
