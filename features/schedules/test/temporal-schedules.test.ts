/** A schedule stays if Temporal or Postgres is away while it is planned, and is planned later. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ScheduleClient } from '@temporalio/client';
import { Failure } from '#domain/errors.ts';
import { scheduleCreateSchema } from '../schema/schedule.ts';
import { insertAgent } from '#store/agent-store.ts';
import { insertTenant } from '#store/api-key-store.ts';
import { createScrubber } from '#store/secrets/scrubber.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { endRun, readBeat, takeRun } from '../store/schedule-run-store.ts';
import { readSchedule } from '../store/schedule-store.ts';
import { type HeartbeatChange, setHeartbeat } from '../temporal/heartbeats.ts';
import { createSchedules } from '../temporal/schedules.ts';
import { eventually } from '#test/support/processes.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/test-database.ts';

const AWAY = [
  new Failure('Unavailable', 'Temporal does not answer'),
  Object.assign(new Error('terminating connection'), { code: '57P01' }),
];

describe('TL planning schedules', () => {
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

  /** A Temporal that accepts what `put` accepts. */
  function schedulesWith(put: (id: string, note: string) => Promise<void>) {
    const schedule = {
      getHandle: (id: string) => ({
        update: (change: () => { readonly state: { readonly note: string } }) => put(id, change().state.note),
        delete: async () => undefined,
      }),
    };
    const clients = {
      schedule: schedule as unknown as ScheduleClient,
      taskQueue: 'any',
      ask: <Result>(request: () => Promise<Result>) => request(),
    };
    return createSchedules({
      pool: database.pool,
      scrubberOf: async () => createScrubber(),
      temporal: { start: async () => undefined, clients },
    });
  }
  const maker = { tenant: 'red', user: null, by: 'test', rights: {}, stem: 'test' };
  const job = (name: string) =>
    scheduleCreateSchema.parse({
      name,
      agent: 'main',
      message: 'Report.',
      schedule: { kind: 'every', every_seconds: 3600 },
      deliver: 'none',
    });

  it('of changes of a heartbeat at once none is lost', async () => {
    const schedules = schedulesWith(async () => undefined);
    const set = (change: HeartbeatChange) =>
      setHeartbeat(
        { pool: database.pool, schedules, models: { problem: () => undefined } },
        { ...maker, agent: 'main' },
        change,
      );
    await set({ session: 'room' });
    const changes = [
      { ack_max_chars: 1 },
      { max_retries: 5 },
      { light_context: true },
      { active_hours: '08:00-22:00' },
      { isolated_session: false },
    ];
    await Promise.all(changes.map(set));
    const { heartbeat, session_key } = await set({});
    assert.partialDeepStrictEqual(
      { ...heartbeat, session_key },
      Object.assign({ session_key: 'room' }, ...changes),
    );
    await assert.rejects(set({ session: null }), /say in which session/);
    assert.equal((await set({ session: null, isolated_session: true })).session_key, null);
  });

  it('holds no row and no connection while Temporal is asked', async () => {
    const request = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const slow = schedulesWith(async () => {
      request.resolve();
      await answered.promise;
    });
    const adding = slow.add(maker, job('slow'));
    await request.promise;
    const { rows } = await database.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    );
    assert.deepEqual(rows, []);
    await database.pool.query(`select 1 from schedules where name = 'slow' for update nowait`);
    answered.resolve();
    await adding;
  });

  it('makes nobody who writes for its tenant wait while it is counted', async () => {
    const other = await database.pool.connect();
    try {
      await other.query('begin');
      await other.query('lock table schedules in access exclusive mode');
      const adding = schedulesWith(async () => undefined).add(maker, job('counted'));
      assert.ok(
        await eventually(async () => {
          const { rows } = await database.pool.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          );
          return rows.length === 1;
        }),
      );
      // The row refers to the tenant's; it throws when it has to wait for that one.
      await other.query(`set local lock_timeout = '1s'`);
      await other.query(`insert into sessions (tenant_id, key, agent_key) values ($1, 'beside', 'main')`, [
        maker.tenant,
      ]);
      await other.query('rollback');
      await adding;
    } finally {
      other.release(true);
    }
  });

  it('brings a change to Temporal that came while an older one was on its way there', async () => {
    const request = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const written: string[] = [];
    const schedules = schedulesWith(async (_id, note) => {
      if (written.length === 0) {
        request.resolve();
        await answered.promise;
      }
      written.push(note);
    });
    const adding = schedules.add(maker, job('changed'));
    await request.promise;
    const { rows } = await database.pool.query<{ id: string }>(
      `select id from schedules where name = 'changed'`,
    );
    const id = rows[0]?.id ?? '';
    const quick = schedulesWith(async (_id, note) => void written.push(note));
    await quick.change(maker, id, { schedule: { kind: 'every', every_seconds: 60 } });
    assert.deepEqual(written, []);
    answered.resolve();
    await adding;
    assert.deepEqual(written, ['each 3600 s', 'each 60 s']);
    const plans = await database.pool.query(
      `select 1 from schedules where id = $1 and planned = revision and planner is null`,
      [id],
    );
    assert.equal(plans.rowCount, 1);
  });

  it('waits for what is away, and for nothing else', async () => {
    for (const [at, problem] of AWAY.entries()) {
      const { id } = await schedulesWith(() => Promise.reject(problem)).add(maker, job(`away-${at}`));
      assert.match(id, /^away-/);
    }
    const refuses = schedulesWith(() => Promise.reject(new Error('refused')));
    await assert.rejects(refuses.add(maker, job('refused')), /refused/);

    for (const problem of AWAY) {
      const requests: string[] = [];
      const sweep = schedulesWith(async (id) => {
        requests.push(id);
        throw problem;
      });
      await assert.rejects(sweep.planAll(), problem);
      assert.equal(requests.length, 1);
    }
    const requested: string[] = [];
    const picky = schedulesWith(async (id) => {
      requested.push(id);
      if (id.includes('away-0')) throw new Error('refused');
    });
    await assert.rejects(picky.planAll(), /refused/);
    assert.equal(requested.length, AWAY.length);
    const whole: string[] = [];
    assert.equal(await schedulesWith(async (id) => void whole.push(id)).planAll(), 1);
    assert.match(whole.join(), /away-0/);
  });

  it('one that goes with its run stays when it was changed to a later time while that run was handed over', async () => {
    const schedules = schedulesWith(async () => undefined);
    const db = forTenant(database.pool, 'red');
    const at = (day: number) => ({ kind: 'at', at: `2099-01-0${day}T09:00:00Z` }) as const;
    const changes = { later: { schedule: at(2) }, same: { message: 'Report now.' }, none: undefined };
    const left: Record<string, boolean> = {};
    for (const [name, change] of Object.entries(changes)) {
      const { id } = await schedules.add(maker, { ...job(name), schedule: at(1), delete_after_run: true });
      const run = { key: name, at: new Date(at(1).at), forced: false, session: name };
      await takeRun(db, id, run);
      if (change) await schedules.change(maker, id, change);
      // After a crash of the worker it is taken again.
      assert.equal((await takeRun(db, id, run))?.run.state, null);
      await endRun(db, id, name, { state: 'started', reason: null, turn_id: null });
      left[name] = (await readSchedule(db, id)) !== undefined;
    }
    assert.deepEqual(left, { later: true, same: false, none: false });
  });

  it('a late attempt of its start leaves a run as it has become since', async () => {
    const schedules = schedulesWith(async () => undefined);
    const db = forTenant(database.pool, 'red');
    const { id } = await schedules.add(maker, job('late'));
    const started = { state: 'started', reason: null, turn_id: 'turn_1' } as const;
    const states: unknown[] = [];
    for (const [key, later, attempt] of [
      ['ended', { ...started, state: 'quiet' }, 1],
      ['again', { ...started, turn_id: 'turn_2' }, 2],
    ] as const) {
      await takeRun(db, id, { key, at: new Date(), forced: true, session: key });
      await endRun(db, id, key, started);
      await endRun(db, id, key, later, attempt);
      // A worker that was cut off from Temporal comes back.
      await endRun(db, id, key, started);
      const run = await readBeat(db, id, key);
      states.push([run?.state, run?.turn_id, run?.attempt]);
    }
    assert.deepEqual(states, [
      ['quiet', 'turn_1', 1],
      ['started', 'turn_2', 2],
    ]);
  });
});
