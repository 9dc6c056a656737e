/** DU-1: one message that arrives several times at once is one row, and every arrival gets it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertAgent } from '#store/agent-store.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { writeMessage } from '#store/turns/message-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { eventually } from '#test/support/processes.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

describe('DU-1 writing a message', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await insertTenant(database.pool, 'red', 'Red');
    await insertAgent(
      forTenant(database.pool, 'red'),
      { key: 'main', type: 'open', model: 'rehearsal/follow' },
      'test',
    );
  });
  after(() => database.drop());

  it('that another request is just writing: what that one wrote is read, not taken for nothing', async () => {
    const { pool } = database;
    const message = { id: 'twice', session: 's', text: 'Once.', mode: null, context: {} };
    await writeMessage(forTenant(pool, 'red'), { ...message, id: 'before' });
    const other = await pool.connect();
    await other.query('begin');
    await other.query(
      `insert into messages (tenant_id, id, session_key, role, text) values ('red', 'twice', 's', 'user', 'Once.')`,
    );
    const second = writeMessage(forTenant(pool, 'red'), message);
    assert.ok(
      await eventually(async () => {
        const { rowCount } = await pool.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      }),
      'it waits for the other',
    );
    await other.query('commit');
    other.release();
    const row = await second;
    assert.deepEqual([row.written, row.agent_key, row.session_key, row.text], [false, 'main', 's', 'Once.']);
  });
});
