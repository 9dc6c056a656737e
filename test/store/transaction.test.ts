import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { isTransient } from '#store/postgres/pool.ts';
import type { Transaction } from '#store/postgres/database.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-5 a transaction of several statements', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`insert into tenants values ('t', 't')`);
  });
  after(() => database.drop());

  const insertAgent = (tx: Transaction, key: string) =>
    tx.insertInto('agents').values({ tenant_id: 't', key, revision: 1, config: '{}' }).execute();
  const agents = async (): Promise<number> => (await database.pool.query('select from agents')).rows.length;

  it('leaves nothing when it is refused on its way', async () => {
    const work = inTransaction(database.pool, async (tx) => {
      await insertAgent(tx, 'one');
      throw new Error('refused');
    });
    await assert.rejects(work, /refused/);
    assert.equal(await agents(), 0);
  });

  it('whose connection breaks between two statements fails as one that may be tried again, and nothing else does', async () => {
    const work = inTransaction(database.pool, async (tx) => {
      await insertAgent(tx, 'two');
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
      await database.pool.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
      await insertAgent(tx, 'three');
    });
    await assert.rejects(work, isTransient);
    assert.equal(await agents(), 0);
  });

  it('that stops between two statements is ended by the server, so that nobody waits for its locks for long', async () => {
    const { rows } = await database.pool.query(`show idle_in_transaction_session_timeout`);
    assert.deepEqual(rows, [{ idle_in_transaction_session_timeout: '10s' }]);
  });
});
