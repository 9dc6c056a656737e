/**
 * `doctor` beside a real PgBouncer. It needs TEST_PGBOUNCER, the program of PgBouncer 1.21 or later; with it, the other
 * system tests that kill processes use their database through one (support/pgbouncer.ts).
 */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { poolerCheck } from '#features/local/postgres/pooler-check.ts';
import { createPool } from '#store/postgres/pool.ts';
import { startPgBouncer } from '#test/support/pgbouncer.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const program = process.env['TEST_PGBOUNCER'];
const skip = program ? false : 'TEST_PGBOUNCER names no PgBouncer';

describe('a pooler in front of Postgres', { skip }, () => {
  let database: TestDatabase;
  let folder: string;
  const stops: (() => Promise<unknown>)[] = [];
  before(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'tempoclaw-pooler-'));
    await chmod(folder, 0o711);
  });
  after(async () => {
    for (const stop of stops) await stop();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function startPooler(hasLimits: boolean): Promise<string> {
    const { url, child } = await startPgBouncer({
      program: program ?? '',
      databaseUrl: database.url,
      folder: join(folder, String(hasLimits)),
      connections: 1,
      hasLimits,
    });
    stops.push(() => child.stop());
    return url;
  }

  it('doctor finds a pooler that serves named statements and sets the limits', async () => {
    const found = await poolerCheck(await startPooler(true)).look();
    assert.match(String(found), /^postgres:\/\/127\.0\.0\.1:\d+\//);
  });

  it('doctor names the limits that a pooler does not set, and the line that sets them', async () => {
    const [found] = await poolerCheck(await startPooler(false)).look();
    assert.ok(typeof found === 'object');
    assert.equal(found.status, 'warn');
    assert.match(
      found.detail,
      /statement_timeout and idle_in_transaction_session_timeout|idle_in_transaction_session_timeout and statement_timeout/,
    );
    assert.match(found.remedy ?? '', /connect_query='set statement_timeout = 30000; set idle_in/);
  });

  it('two pools share one connection without mixing up their named statements', async () => {
    const poolerUrl = await startPooler(true);
    const pools = ['a', 'b'].map((applicationName) =>
      createPool({ url: database.url, poolerUrl, size: 2, applicationName, onIdleError: () => undefined }),
    );
    stops.unshift(...pools.map((pool) => () => pool.end()));
    const rows = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const reply = await pools[n % 2]?.query<{ value: string }>({
          name: 'one_name',
          text: `select '${n % 2}' || $1::text as value`,
          values: [n],
        });
        return reply?.rows[0]?.value;
      }),
    );
    assert.deepEqual(
      rows,
      Array.from({ length: 20 }, (_, n) => `${n % 2}${n}`),
    );
  });
});
