/** R8: keys separate rows of tenants, whatever a statement forgets (docs/decisions/0007). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

/** Tables that belong to no tenant: those of the deployment and its workers, and the list of tenants itself. */
const OF_NO_TENANT = new Set([
  'tenants',
  'installation',
  'function_set',
  'migrations',
  'sweep_parts',
  'telemetry_cursor',
  'workers',
]);

describe('R8 the tenant in every key', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const rows = async <Row extends object>(text: string): Promise<Row[]> =>
    (await database.pool.query<Row>(text)).rows;

  it('every table has tenant_id, never null', async () => {
    const tables = await rows<{ name: string; kept: boolean }>(
      `select c.relname as name, coalesce(bool_or(a.attname = 'tenant_id' and a.attnotnull), false) as kept
       from pg_class c left join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') group by 1`,
    );
    assert.ok(tables.length > 10);
    const without = tables.filter(({ name, kept }) => !kept && !OF_NO_TENANT.has(name));
    assert.deepEqual(
      without.map(({ name }) => name),
      [],
    );
  });

  it('every primary key and every reference to a row of a tenant begins with it', async () => {
    const keys = await rows<{ name: string; on: string; target: string | null; columns: string[] }>(
      `select k.conname as name, k.conrelid::regclass::text as on, nullif(k.confrelid, 0)::regclass::text as target,
         array(select a.attname::text from unnest(k.conkey) with ordinality as u (n, o)
           join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.n order by u.o) as columns
       from pg_constraint k where k.connamespace = 'public'::regnamespace and k.contype in ('p', 'f')`,
    );
    const wrong = keys.filter(({ on, columns }) => !OF_NO_TENANT.has(on) && columns[0] !== 'tenant_id');
    assert.deepEqual(
      wrong.map(({ on, name, columns }) => `${on}: ${name} (${columns.join(', ')})`),
      [],
    );
  });
});
