/** Makes what a new deployment needs before anybody can call it: the tenant `default`, and an admin key in a file. */
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasAdminKey, insertFirstApiKey, insertTenant } from '#store/api-key-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { hashSecret, isSecret, makeKeyId, makeSecret } from './auth.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/**
 * Makes the first admin key if there is none, and then resolves with the path of its file. The file is written first
 * and reused, so a crash in between leaves no key that nobody has. It is safe to run again, also in several processes.
 */
export async function prepareFirstStart(pool: Pool, stateDir: string): Promise<string | undefined> {
  await insertTenant(pool, OPERATOR_TENANT, 'Default');
  if (await hasAdminKey(forTenant(pool, OPERATOR_TENANT))) return undefined;
  await mkdir(stateDir, { recursive: true });
  const file = join(stateDir, 'api-key');
  const secret = await secretInFile(file);
  const key = await insertFirstApiKey(forTenant(pool, OPERATOR_TENANT), {
    id: makeKeyId(),
    name: 'first admin key',
    user: null,
    hash: hashSecret(secret),
    scopes: ['admin'],
    expiresAt: null,
  });
  return key ? file : undefined;
}

/**
 * Writes the file completely or not at all: it is written aside and linked into place, which only one process can do.
 */
async function secretInFile(file: string): Promise<string> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${makeSecret()}\n`, { mode: 0o600 });
  try {
    await link(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const secret = (await readFile(file, 'utf8')).trim();
  if (!isSecret(secret)) throw new Error(`${file} holds no API key of ours; move it away, then start again`);
  return secret;
}
