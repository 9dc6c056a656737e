import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createEventWriter } from '#store/turns/event-writer.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';
import { eventually } from '#test/support/processes.ts';

const SESSIONS = 200;

describe('IN-2 events that arrive in pieces', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(() =>
    database.pool.query(`truncate tenants, sessions, events cascade;
      insert into tenants values ('x', 'x'), ('y', 'y');
      insert into sessions (tenant_id, key, agent_key)
        select t, 's' || n, 'x' from unnest('{x,y}'::text[]) t, generate_series(1, ${SESSIONS}) n;`),
  );

  const piece = (text: string) => ({ type: 'message.delta', data: { text } }) as const;
  const place = (session: string, tenant = 'x', turn = 'turn') => ({ tenant, session, turn });
  const textsOf = async (session: string, tenant = 'x') => {
    const { rows } = await database.pool.query<{ id: string; text: string }>(
      `select id, data ->> 'text' as text from events where tenant_id = $1 and session_key = $2 order by id`,
      [tenant, session],
    );
    assert.deepEqual(
      rows.map(({ id }) => Number(id)),
      rows.map((_, index) => index + 1),
      'the numbers of a feed have no gap',
    );
    return rows.map(({ text }) => text);
  };

  it('keep their order in each feed, and many sessions share a commit', async () => {
    const append = createEventWriter(database.pool, () => undefined);
    const before = await commits(database);
    const feeds = Array.from({ length: SESSIONS }, async (_, n) => {
      for (let at = 0; at < 5; at += 1)
        await append(place(`s${n + 1}`, n % 2 === 0 ? 'x' : 'y'), [piece(`${at}a`), piece(`${at}b`)]);
    });
    await Promise.all(feeds);
    assert.deepEqual(
      await textsOf('s1', 'x'),
      [0, 1, 2, 3, 4].flatMap((at) => [`${at}a`, `${at}b`]),
    );
    assert.deepEqual((await textsOf('s2', 'y')).length, 10);
    assert.deepEqual(await textsOf('s1', 'y'), []);
    const made = (await commits(database)) - before;
    assert.ok(made < SESSIONS / 4, `${made} commits for ${SESSIONS * 5} pieces`);
  });

  it('of a session whose row is locked wait alone, and those behind them keep their order', async () => {
    const append = createEventWriter(database.pool, () => undefined);
    const other = await database.pool.connect();
    try {
      await other.query('begin');
      await other.query(`select from sessions where tenant_id = 'x' and key = 's1' for update`);
      const written: string[] = [];
      const first = append(place('s1'), [piece('one')]).then(() => written.push('one'));
      await append(place('s2'), [piece('free')]);
      const second = append(place('s1', 'x', 'another turn'), [piece('two')]).then(() => written.push('two'));
      await append(place('s2'), [piece('still free')]);
      assert.deepEqual(written, []);
      await other.query('commit');
      await Promise.all([first, second]);
      assert.deepEqual(await textsOf('s1'), ['one', 'two']);
      assert.deepEqual(await textsOf('s2'), ['free', 'still free']);
    } finally {
      other.release();
    }
  });

  it('that Postgres refuses fail alone', async () => {
    const append = createEventWriter(database.pool, () => undefined);
    const results = await Promise.allSettled([
      append(place('s1'), [piece('good')]),
      append(place('s2'), [piece('a \u0000 that no row can have')]),
      append(place('no such session'), [piece('lost')]),
      append(place('s3'), [piece('good too')]),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await textsOf('s1'), ['good']);
    assert.deepEqual(await textsOf('s3'), ['good too']);
  });

  it('notify the readers of each feed after the commit, at once where it matters', async () => {
    const notices: (readonly [string, boolean | undefined])[] = [];
    const append = createEventWriter(database.pool, (_tenant, session, isImmediate) =>
      notices.push([session, isImmediate]),
    );
    await Promise.all([append(place('s1'), [piece('x')]), append(place('s2'), [piece('x')], true)]);
    assert.deepEqual(notices.toSorted(), [
      ['s1', false],
      ['s2', true],
    ]);
  });

  it('make no write to an index of sessions (DU-12)', async () => {
    const append = createEventWriter(database.pool, () => undefined);
    await database.pool.query('vacuum full sessions');
    const counts = async () => {
      await database.pool.query('select pg_stat_force_next_flush()');
      const { rows } = await database.pool.query<{ all: number; hot: number }>(
        `select n_tup_upd::int as all, n_tup_hot_upd::int as hot from pg_stat_user_tables where relname = 'sessions'`,
      );
      return rows[0] ?? { all: 0, hot: 0 };
    };
    const earlier = await counts();
    for (let at = 0; at < 20; at += 1)
      await append(place(`s${at % 4}`, 'y'), [piece('x')]).catch(() => undefined);
    const areCounted = await eventually(async () => (await counts()).all - earlier.all >= 15);
    assert.ok(areCounted, 'the updates are counted');
    const later = await counts();
    assert.equal(later.hot - earlier.hot, later.all - earlier.all);
  });
});

async function commits({ pool }: TestDatabase): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ made: number }>(
    'select xact_commit::int as made from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.made ?? 0;
}
