import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { sql } from 'kysely';
import { deleteSome } from '#store/old-rows.ts';
import { createSqlCall } from '#store/postgres/sql-call.ts';
import { pruneByRetention } from '#store/retention-store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

/** A month that no event of now is in. */
const OLD = '2020-03';

describe('DU-8 months of events', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
    await database.pool.query(`insert into tenants (id, name) values ('a', 'A'), ('b', 'B')`);
  });
  beforeEach(() => database.pool.query('truncate events'));
  after(() => database.drop());

  const keepMonths = (days: number | null) =>
    createSqlCall(database.pool)<number, 'keep_event_months'>('keep_event_months', [days]);

  async function addMonth(month: string): Promise<void> {
    await database.pool.query(
      `create table if not exists event_months.m${month.replace('-', '_')} partition of events
       for values from ('${month}-01 00:00Z') to (timestamptz '${month}-01 00:00Z' + interval '1 month')`,
    );
  }

  async function addEvents(tenant: string, at: string, count: number): Promise<void> {
    await database.pool.query(
      `insert into events (tenant_id, session_key, id, type, data, at)
       select $1, 's', n + coalesce((select max(id) from events where tenant_id = $1), 0), 'delta', '{}', $2 from generate_series(1, $3) n`,
      [tenant, at, count],
    );
  }

  async function months(): Promise<readonly string[]> {
    const { rows } = await database.pool.query<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'events'::regclass and c.relname <> 'other' order by 1`,
    );
    return rows.map(({ name }) => name);
  }

  async function countOf(tenant: string): Promise<number> {
    const { rows } = await database.pool.query('select from events where tenant_id = $1', [tenant]);
    return rows.length;
  }

  async function retain(tenant: string, days: number | null): Promise<void> {
    await database.pool.query('update tenants set retention = $2 where id = $1', [
      tenant,
      days === null ? null : { events_days: days },
    ]);
  }

  it('this month and the next two are there, and concurrent calls do not disturb each other', async () => {
    const now = new Date();
    const names = [0, 1, 2].map((ahead) => {
      const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead));
      return `m${month.toISOString().slice(0, 7).replace('-', '_')}`;
    });
    for (const name of names) await database.pool.query(`drop table event_months.${name}`);
    await Promise.all([1, 2, 3, 4].map(() => keepMonths(null)));
    assert.deepEqual(await months(), names);
  });

  it('a month is dropped when no tenant keeps it, and stays while one keeps events without end', async () => {
    await addMonth(OLD);
    await addEvents('a', `${OLD}-31 23:59Z`, 3);
    await addEvents('b', `${OLD}-02`, 3);
    await retain('a', 30);
    await retain('b', null);
    await pruneByRetention(database.pool, [], {});
    assert.ok((await months()).includes('m2020_03'));
    assert.deepEqual([await countOf('a'), await countOf('b')], [0, 3]);
    await retain('b', 365);
    await pruneByRetention(database.pool, [], {});
    assert.ok(!(await months()).includes('m2020_03'));
    assert.deepEqual([await countOf('a'), await countOf('b')], [0, 0]);
  });

  it('a month of which events are elsewhere already is not made, and nothing fails', async () => {
    const name = (await months()).at(-1) ?? '';
    const [, year, month] = /^m(\d{4})_(\d\d)$/.exec(name) ?? [];
    await database.pool.query(`drop table event_months.${name}`);
    await addEvents('a', `${year}-${month}-05`, 1);
    await keepMonths(null);
    assert.ok(!(await months()).includes(name));
    assert.equal(await countOf('a'), 1);
    await database.pool.query('truncate events');
    await keepMonths(null);
    assert.ok((await months()).includes(name));
  });

  it('a batch of old events is taken from all months, and no other rows with them', async () => {
    await addMonth(OLD);
    await addEvents('a', `${OLD}-05`, 10);
    await addEvents('b', `${OLD}-05`, 10);
    await addEvents('a', '2019-01-01', 10);
    await addEvents('a', new Date().toISOString(), 10);
    const where = sql`tenant_id = 'a' and at < '2021-01-01'`;
    assert.equal(await deleteSome(database.pool, 'events', where, 15), 15);
    assert.equal(await deleteSome(database.pool, 'events', where, 15), 5);
    assert.deepEqual([await countOf('a'), await countOf('b')], [10, 10]);
  });
});
