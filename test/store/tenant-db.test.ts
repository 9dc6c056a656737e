import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { findAgent, insertAgent } from '#store/agent-store.ts';
import { affects, readRow, readRows } from '#store/postgres/statements.ts';
import { forTenant, type TenantDb, type TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const FORGOTTEN = /a statement does not name its tenant, "red"/;

describe('I6 a database of one tenant', () => {
  let database: TestDatabase;
  let red: TenantDb;
  before(async () => {
    database = await createTestDatabase();
    red = forTenant(database.pool, 'red');
    for (const tenant of ['red', 'blue']) {
      await database.pool.query(`insert into tenants values ($1, $1)`, [tenant]);
      const agent = { key: 'main', type: 'open', model: `of/${tenant}` } as const;
      await insertAgent(forTenant(database.pool, tenant), agent, 'test');
    }
  });
  after(() => database.drop());

  const keys = async (): Promise<unknown[]> =>
    (await database.pool.query('select tenant_id, key from agents order by 1, 2')).rows;

  it('reads the rows of this tenant, whose id the database is as a value', async () => {
    assert.equal((await findAgent(red, 'main'))?.config.model, 'of/red');
    const own = await readRows(red)`select tenant_id from agents where ${sql`tenant_id = ${red}`}`;
    assert.deepEqual(own, [{ tenant_id: 'red' }]);
    const built = await red.selectFrom('agents').select('tenant_id').where('tenant_id', '=', red).execute();
    assert.deepEqual(built, [{ tenant_id: 'red' }]);
  });

  it('refuses a statement that does not name the tenant, however it is written', async () => {
    const key = 'main';
    await assert.rejects(readRow(red)`select key from agents where key = ${key}`, FORGOTTEN);
    await assert.rejects(affects(red)`delete from agents`, FORGOTTEN);
    await assert.rejects(red.selectFrom('agents').select('key').where('key', '=', key).execute(), FORGOTTEN);
    await assert.rejects(red.deleteFrom('agents').execute(), FORGOTTEN);
    const wrong = { tenant_id: 'blue', key, revision: 1, config: '{}' };
    await assert.rejects(red.insertInto('agents').values(wrong).execute(), FORGOTTEN);
    assert.equal((await keys()).length, 2);
  });

  it('refuses one that names another tenant', async () => {
    const blue = forTenant(database.pool, 'blue');
    await assert.rejects(affects(red)`delete from agents where tenant_id = ${blue}`, FORGOTTEN);
    assert.equal((await keys()).length, 2);
  });

  it('refuses it in a transaction too, which leaves nothing', async () => {
    const insert = (tx: TenantTx, key: string) =>
      tx.insertInto('agents').values({ tenant_id: tx, key, revision: 1, config: '{}' }).execute();
    const forgetful = inTransaction(red, async (tx) => {
      await insert(tx, 'second');
      await affects(tx)`update agents set revision = 9`;
    });
    await assert.rejects(forgetful, FORGOTTEN);
    await inTransaction(red, async (tx) => {
      await insert(tx, 'third');
      await affects(tx.unbound)`select pg_advisory_xact_lock(1)`;
    });
    assert.deepEqual(await keys(), [
      { tenant_id: 'blue', key: 'main' },
      { tenant_id: 'red', key: 'main' },
      { tenant_id: 'red', key: 'third' },
    ]);
  });
});
