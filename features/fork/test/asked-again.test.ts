/** DU-6: a fork that failed and is requested again. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertTenant } from '#store/api-key-store.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { claimFork, findFork, noteFailed } from '../store/fork-store.ts';

describe('DU-6 a fork that failed', () => {
  let database: TestDatabase;
  let db: TenantDb;
  before(async () => {
    database = await createTestDatabase();
    await insertTenant(database.pool, 'default', 'Default');
    db = forTenant(database.pool, 'default');
  });
  after(() => database.drop());

  it('is tried again at the point and with the rights of who requests it again, and not of the first', async () => {
    const first = {
      session_key: 'again',
      from_session: 'source',
      from_turn: 'turn_1',
      from_step: 1,
      agent_key: 'main',
      user_id: 'ann',
      context: { user: 'ann', roles: ['admin', 'approve'], key: 'key_of_admin' },
      digest: 'same',
      sealed: 'sealed-1',
      key_id: 'k',
      by: 'admin',
    };
    await claimFork(db, first);
    await noteFailed(db, 'again', { code: 'Internal', message: 'no' });
    const context = { user: 'ann', roles: ['run'], key: 'key_of_ann' };
    const second = { ...first, from_turn: 'turn_2', from_step: 3, context, sealed: 'sealed-2', by: 'ann' };
    const made = await claimFork(db, second);
    const kept = await findFork(db, 'again');
    for (const row of [made, kept])
      assert.deepEqual(
        [row?.status, row?.error, row?.from_turn, row?.from_step, row?.context, row?.sealed],
        ['open', null, 'turn_2', 3, context, 'sealed-2'],
      );
    const { rows } = await database.pool.query('select created_by from forks');
    assert.deepEqual(rows, [{ created_by: 'ann' }]);
  });
});
