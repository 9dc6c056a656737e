/** DE-5: a handoff whose activity is attempted again. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { insertTenant } from '#store/api-key-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { clearHandoff, findHandoff, listHandoffs } from '../store.ts';
import { createHandoffs } from '../transfer.ts';

describe('DE-5 a handoff that is attempted again', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await insertTenant(database.pool, 'default', 'Default');
    await database.pool.query(`
      insert into agents (tenant_id, key, revision, config)
        select 'default', key, 1, '{}' from unnest(array['main', 'billing', 'legal']) key;
      insert into sessions (tenant_id, key, agent_key) values ('default', 'first', 'main'), ('default', 'second', 'billing')`);
  });
  after(() => database.drop());

  it('leaves the chat with whom it has been handed on to since, and where somebody has taken it back', async () => {
    const handoffs = createHandoffs({
      pool: database.pool,
      scrubberOf: async () => ({ text: (text: string) => text }),
      sessions: { history: async () => [] },
      links: { wayTo: async () => ({ kind: 'open' }) },
      wake: async () => ({}),
    } as never);
    const db = forTenant(database.pool, 'default');
    const handOn = (callId: string, agent: string, sessionKey: string, to: string) =>
      handoffs.transfer(
        { tenant: 'default', callId, agent, sessionKey, turnId: 'turn_x', user: null, roles: [] } as never,
        { channel: 'web', chatId: 'c', to, reason: 'r', withContext: false },
      );
    assert.equal(await handOn('call-1', 'main', 'first', 'billing'), undefined);
    assert.equal(await handOn('call-2', 'billing', 'second', 'legal'), undefined);
    // The worker of the first call was lost after its commit.
    assert.equal(await handOn('call-1', 'main', 'first', 'billing'), undefined);
    assert.equal((await findHandoff(db, 'web', 'c'))?.to, 'legal');
    await handoffs.clear({ tenant: 'default', callId: 'call-3' }, 'web', 'c');
    assert.equal(await handOn('call-2', 'billing', 'second', 'legal'), undefined);
    assert.deepEqual(await listHandoffs(db, null, 10, ['', '']), []);
    const { rows } = await database.pool.query(`select session_key from events where type = 'handoff'`);
    assert.deepEqual(rows.map(({ session_key }) => session_key).sort(), ['first', 'second']);
  });

  it('takes no newer handoff back when its end is repeated, by a call or over HTTP', async () => {
    const handoffs = createHandoffs({ pool: database.pool } as never);
    const db = forTenant(database.pool, 'default');
    const hand = (session: string) =>
      database.pool.query(
        `insert into handoff_routes (tenant_id, channel, chat_id, from_key, to_key, session_key, reason, path, created_by)
           values ('default', 'web', 'd', 'main', 'legal', $1, 'r', '[]', 'call')`,
        [session],
      );
    await hand('first');
    await database.pool.query(`
      insert into turns (tenant_id, id, session_key, agent_key, status) values ('default', 'turn_y', 'first', 'main', 'running');
      insert into tool_calls (tenant_id, id, session_key, turn_id, step, index, tool, called_as, summary, args, digest, verdict, state, started_at)
        values ('default', 'call-4', 'first', 'turn_y', 1, 0, 'handoff', 'handoff', 'clear', '{}', 'd', 'allow', 'running', now())`);
    const clear = () => handoffs.clear({ tenant: 'default', callId: 'call-4' }, 'web', 'd');
    await clear();
    assert.equal(await findHandoff(db, 'web', 'd'), undefined);
    await hand('second');
    await clear();
    assert.equal(await clearHandoff(db, 'web', 'd', { session: 'first' }), false);
    assert.equal((await findHandoff(db, 'web', 'd'))?.session_key, 'second');
    assert.equal(await clearHandoff(db, 'web', 'd', { session: 'second' }), true);
  });
});
