/** sessions_list, sessions_history, session_status, agents_list: what they read, on a real database. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SessionCaller, SessionQueries } from '#domain/turn/session-queries.ts';
import { insertAgent } from '#store/agent-store.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { writeMessage } from '#store/turns/message-store.ts';
import { createSessionQueries } from '#store/turns/session-queries.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

/** A call of the tenant, without a user unless one is named. */
function by(tenant: string, user: string | null = null, sessionKey = 'calls'): SessionCaller {
  return { tenant, user, sessionKey };
}

describe('TL what tools read of sessions', () => {
  let database: TestDatabase;
  let queries: SessionQueries;

  before(async () => {
    database = await createTestDatabase();
    for (const tenant of ['red', 'blue']) {
      await insertTenant(database.pool, tenant, tenant);
      await insertAgent(
        forTenant(database.pool, tenant),
        { key: 'main', type: 'open', model: 'rehearsal/follow' },
        'test',
      );
    }
    for (const session of ['old', 'new'])
      await writeMessage(forTenant(database.pool, 'red'), {
        id: `m-${session}`,
        session,
        text: `Said in ${session}.`,
        mode: null,
        context: {},
      });
    await database.pool.query(
      `update sessions set updated_at = now() - interval '2 hours' where key = 'old'`,
    );
    await database.pool.query(`update messages set position = 1, turn_id = 't', step = 1`);
    await database.pool.query(
      `insert into turns (tenant_id, id, session_key, agent_key, status, steps) values ('red', 't', 'new', 'main', 'completed', 3)`,
    );
    queries = createSessionQueries(database.pool, false);
  });
  after(() => database.drop());

  it('sessions_list: those of the tenant, last active first, or only those of the last minutes', async () => {
    const keys = async (tenant: string, options: Parameters<SessionQueries['list']>[1]): Promise<string[]> =>
      (await queries.list(by(tenant), options)).map(({ key }) => key);
    assert.deepEqual(await keys('red', { limit: 20 }), ['new', 'old']);
    assert.deepEqual(await keys('red', { limit: 1 }), ['new']);
    assert.deepEqual(await keys('red', { limit: 20, activeMinutes: 60 }), ['new']);
    assert.deepEqual(await keys('red', { limit: 20, activeMinutes: 180.5 }), ['new', 'old']);
    assert.deepEqual(await keys('blue', { limit: 20 }), []);
  });

  it('session_status: its state and what it took, and nothing of another tenant', async () => {
    const { created_at, updated_at, ...status } = (await queries.status(by('red'), 'new')) ?? {};
    assert.match(`${created_at} ${updated_at}`, /^\S+Z \S+Z$/);
    assert.deepEqual(status, {
      agent: 'main',
      status: 'completed',
      turns: 0,
      title: null,
      steps: 3,
      input_tokens: 0,
      output_tokens: 0,
      cost_usd: null,
    });
    assert.equal(await queries.status(by('blue'), 'new'), undefined);
  });

  it('sessions_history: its messages with and without tools; agents_list: the agents', async () => {
    for (const includeTools of [false, true]) {
      const entries = await queries.history(by('red'), 'new', { limit: 5, includeTools });
      assert.deepEqual(
        entries?.map(({ role, text }) => [role, text]),
        [['user', 'Said in new.']],
      );
    }
    assert.equal(await queries.history(by('blue'), 'new', { limit: 5, includeTools: true }), undefined);
    assert.deepEqual(
      (await queries.agents('red', 5)).map(({ key, model }) => [key, model]),
      [['main', 'rehearsal/follow']],
    );
  });

  it('IN-9 within the sessions of the user that the caller works for, unless they are shared', async () => {
    const { pool } = database;
    await insertTenant(pool, 'green', 'green');
    await insertAgent(
      forTenant(pool, 'green'),
      { key: 'main', type: 'open', model: 'rehearsal/follow' },
      'test',
    );
    for (const user of ['ann', 'bob', undefined])
      for (const at of ['1', '2']) {
        const session = `${user ?? 'nobody'}-${at}`;
        const context = user === undefined ? {} : { user };
        await writeMessage(forTenant(pool, 'green'), {
          id: `m-${session}`,
          session,
          text: 'Secret.',
          mode: null,
          context,
        });
      }
    await pool.query(`update messages set position = 1 where tenant_id = 'green'`);
    const seen = async (from: SessionQueries, caller: SessionCaller, limit = 20): Promise<string[]> =>
      (await from.list(caller, { limit })).map(({ key }) => key).toSorted();
    const ann = by('green', 'ann', 'ann-1');
    assert.deepEqual(await seen(queries, ann, 2), ['ann-1', 'ann-2']);
    const options = { limit: 5, includeTools: true };
    assert.equal((await queries.history(ann, 'ann-2', options))?.length, 1);
    for (const other of ['bob-1', 'nobody-1']) {
      assert.equal(await queries.history(ann, other, options), undefined, other);
      assert.equal(await queries.status(ann, other), undefined, other);
      assert.deepEqual(await queries.addressees('green', { agent: 'main', user: 'ann', key: other }), []);
    }
    assert.ok(await queries.status(by('green', 'ann', 'bob-1'), 'bob-1'), 'the session that it works in');

    const shared = createSessionQueries(pool, true);
    assert.equal((await seen(shared, ann)).length, 6);
    assert.equal((await shared.history(ann, 'bob-1', options))?.length, 1);
    assert.deepEqual(await shared.addressees('green', { agent: 'main', user: 'ann', key: 'bob-1' }), [
      'bob-1',
    ]);
    assert.equal((await seen(queries, by('green'))).length, 6);
  });
});
