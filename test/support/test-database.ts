/** A database of its own for one test file, on the run's Postgres. */
import { FEATURES } from '#features';
import { randomBytes } from 'node:crypto';
import { migrate, type SchemaPart } from '#store/postgres/migrate.ts';
import { createPool, type Pool } from '#store/postgres/pool.ts';

export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  drop(): Promise<void>;
}

const QUIET = { onIdleError: () => undefined, applicationName: 'tempoclaw-test' };

/** A copy of the run's template, which has the newest schema; `shared` is one that somebody else drops. */
export async function createTestDatabase(shared?: string): Promise<TestDatabase> {
  if (shared !== undefined) {
    const pool = createPool({ ...QUIET, url: shared, size: 10 });
    return { url: shared, pool, drop: () => pool.end() };
  }
  const serverUrl = ofTheRun('TEST_DATABASE_URL');
  const name = `t_${randomBytes(6).toString('hex')}`;
  const admin = createPool({ ...QUIET, url: serverUrl, size: 1 });
  // Copying the files takes half the processor time of logging each page.
  await admin.query(
    `create database ${name} template ${ofTheRun('TEST_DATABASE_TEMPLATE')} strategy file_copy`,
  );
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = createPool({ ...QUIET, url: url.href, size: 10 });
  return {
    url: url.href,
    pool,
    async drop() {
      await pool.end();
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
  };
}

/**
 * Makes a database with the newest schema that others are copied from. Resolves with its name, and a function that
 * drops it.
 */
export async function createTemplate(
  serverUrl: string,
  features: readonly SchemaPart[] = FEATURES,
): Promise<{ name: string; url: string; drop(): Promise<void> }> {
  const name = `template_${randomBytes(6).toString('hex')}`;
  const change = async (sql: string): Promise<void> => {
    const admin = createPool({ ...QUIET, url: serverUrl, size: 1 });
    await admin.query(sql).finally(() => admin.end());
  };
  await change(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href, features);
  return { name, url: url.href, drop: () => change(`drop database if exists ${name} with (force)`) };
}

/** The addresses of the run's services (test/support/services.ts). */
function ofTheRun(name: 'TEST_DATABASE_URL' | 'TEST_DATABASE_TEMPLATE'): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests with \`npm test\``);
  return value;
}
