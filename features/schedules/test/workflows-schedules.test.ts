/** cron: schedules over HTTP, on Temporal Schedules that follow the rows. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Failure } from '#domain/errors.ts';
import { runIdOf, SCHEDULE_LIMITS, SCHEDULED_MESSAGE, scheduleIdOf } from '../contract/schedule.ts';
import { SWEEP, sweepId } from '#domain/sweep.ts';
import { createSchedules } from '../temporal/schedules.ts';
import type { Answer, Stack } from '#test/support/stack.ts';
import { startStack } from '#test/support/stack.ts';

const YEARLY = { kind: 'cron', expr: '0 9 1 1 *' };
const soon = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

describe('TL cron, schedules', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'planner' }, { key: 'leaver' }] });
  });
  after(() => stack.stop());

  const add = async (body: object, key?: string): Promise<any> => {
    const made = await stack.ask('POST', '/v1/schedules', { body, ...(key && { key }) });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body;
  };
  const runsOf = async (id: string): Promise<any[]> =>
    (await stack.ask('GET', `/v1/schedules/${id}/runs?limit=200`)).body.data ?? [];
  /** All runs, once there are this many and none is running. */
  const settled = (id: string, count: number): Promise<any[]> =>
    stack.worker.until(`${count} runs of ${id}`, async () => {
      const runs = await runsOf(id);
      const isOver = runs.every(({ status }) =>
        ['completed', 'failed', 'skipped', 'refused'].includes(status),
      );
      return runs.length >= count && isOver ? runs : undefined;
    });
  const call = async (session: string, args: object, agent = 'main'): Promise<any> => {
    const { turn_id } = await stack.worker.say(session, `cron ${JSON.stringify(args)}`, { agent });
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0];
  };
  const fire = (
    id: string,
    at: Date,
    workflowId = runIdOf(stack.tenant, id, at),
    words = at.toISOString(),
  ): Promise<unknown> =>
    stack.worker.client.workflow.execute(SCHEDULED_MESSAGE, {
      workflowId,
      taskQueue: stack.worker.taskQueue,
      args: [{ tenant: stack.tenant, schedule: id, at: words }],
    });
  const sweep = (): Promise<unknown> =>
    stack.worker.client.workflow.execute(SWEEP.type, {
      workflowId: `${sweepId(stack.worker.taskQueue)}/test-${Math.random()}`,
      taskQueue: stack.worker.taskQueue,
    });
  const handle = (id: string) => stack.worker.client.schedule.getHandle(scheduleIdOf(stack.tenant, id));

  it('one that comes once runs at its instant, in a session of its own, and goes with its run', async () => {
    const at = soon(4);
    const { id, next_runs } = await add({
      name: 'once',
      schedule: { kind: 'at', at },
      message: 'It is time.',
      delete_after_run: true,
    });
    assert.deepEqual(next_runs, [at.replace(/\.\d+Z/, '.000Z')]);
    const lines = await stack.worker.until('its message', async () => {
      const { rows } = await stack.pool.query(
        `select session_key from messages where tenant_id = $1 and text = 'It is time.' and role = 'user'`,
        [stack.tenant],
      );
      return rows.length > 0 ? rows : undefined;
    });
    assert.deepEqual(lines, [{ session_key: `cron:${id}:${next_runs[0]}` }]);
    await stack.worker.until('its end', async () => {
      const { rows } = await stack.pool.query('select 1 from schedules where id = $1', [id]);
      return rows.length === 0 ? true : undefined;
    });
    assert.equal((await stack.ask('GET', `/v1/schedules/${id}`)).status, 404);
    await assert.rejects(handle(id).describe());
  });

  it('one of a leap day is made, with the instants that Temporal can hold', async () => {
    const { id, next_runs } = await add({
      name: 'leap-day',
      schedule: { kind: 'cron', expr: '0 9 29 2 *' },
      message: 'Leap.',
    });
    assert.equal(next_runs[0], '2028-02-29T09:00:00.000Z');
    const { state } = await handle(id).describe();
    assert.equal(state.paused, false);
    await sweep();
  });

  it('one that is refused leaves no row, whatever refuses it', async () => {
    for (const [schedule, field] of [
      [{ kind: 'cron', expr: '10/20 * * * *' }, '/expr'],
      [{ kind: 'cron', expr: '*/5 * * * * *' }, ''],
      [{ kind: 'at', at: '2300-01-01T00:00:00Z' }, '/at'],
      [{ kind: 'every', every_seconds: 60, from: '2300-01-01T00:00:00Z' }, '/from'],
    ] as const) {
      const body = { name: 'refused', schedule, message: 'x' };
      const refused = await stack.ask('POST', '/v1/schedules', { body });
      assert.equal(refused.status, 422, JSON.stringify(refused.body));
      assert.equal(refused.body.errors[0].pointer, `body/schedule${field}`);
    }
    const { rows } = await stack.pool.query(`select 1 from schedules where name = 'refused'`);
    assert.equal(rows.length, 0);
    const { clients } = stack.worker.temporal;
    const refusing = {
      ...stack.worker.temporal,
      clients: {
        ...clients,
        schedule: {
          getHandle: () => ({
            update: () => Promise.reject(new Failure('Internal', 'not taken')),
            delete: async () => undefined,
          }),
        } as unknown as typeof clients.schedule,
      },
    };
    const scrubberOf = async () => ({ text: (text: string) => text }) as never;
    const made = createSchedules({ pool: stack.pool, temporal: refusing, scrubberOf }).add(
      {
        tenant: stack.tenant,
        user: null,
        by: 'test',
        rights: { key: null, roles: [] } as never,
        stem: 'stem',
      },
      {
        name: 'refused',
        agent: 'main',
        schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'UTC' },
        message: 'x',
        deliver: 'none',
        delete_after_run: false,
        enabled: true,
        overlap: 'skip',
        catchup_seconds: 3_600,
      },
    );
    await assert.rejects(made, /not taken/);
    assert.equal((await stack.pool.query(`select 1 from schedules where name = 'refused'`)).rows.length, 0);
  });

  it('is seen in Temporal under the name that it was given, with the next instants and what they mean', async () => {
    const made = await add({
      name: 'morning-report',
      schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' },
      message: 'Report.',
    });
    assert.equal(made.next_runs.length, 5);
    const { state, info, action } = await handle(made.id).describe();
    assert.match(made.id, /^morning-report-/);
    assert.equal(state.note, '0 9 * * 1-5 (Europe/Berlin)');
    assert.deepEqual(
      info.nextActionTimes.slice(0, 5).map((at) => at.toISOString()),
      made.next_runs,
    );
    assert.equal(action.type === 'startWorkflow' && action.workflowType, SCHEDULED_MESSAGE);
  });

  it('a month of mornings over a change of the clock is one run each, however often each is fired', async () => {
    const { id } = await add({
      name: 'mornings',
      schedule: { kind: 'cron', expr: '0 7 * * *', tz: 'Europe/Berlin' },
      message: 'Good morning.',
      overlap: 'allow',
    });
    const { rows } = await stack.pool.query('select timing from schedules where id = $1', [id]);
    assert.equal(rows[0].timing.tz, 'Europe/Berlin');
    const start = new Date();
    const end = new Date(start.getTime() + 30 * 86_400_000);
    await handle(id).backfill({ start, end, overlap: 'ALLOW_ALL' });
    await handle(id).backfill({ start, end, overlap: 'ALLOW_ALL' });
    const runs = await settled(id, 30);
    assert.equal(runs.length, 30);
    assert.ok(runs.every(({ status, session }) => status === 'completed' && session !== null));
    const hours = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    assert.deepEqual([...new Set(runs.map(({ at }) => hours.format(new Date(at))))], ['07:00']);
    assert.equal(new Set(runs.map(({ at }) => at)).size, 30);
    const message = await stack.pool.query(
      `select 1 from messages where tenant_id = $1 and text = 'Good morning.' and role = 'user'`,
      [stack.tenant],
    );
    assert.equal(message.rowCount, 30);
  });

  it('an instant that is started twice at once begins one turn', async () => {
    const { id, next_runs } = await add({ name: 'twice', schedule: YEARLY, message: 'Twice?' });
    const at = new Date(next_runs[0]);
    await Promise.all([
      fire(id, at),
      fire(id, at, `other/${id}`),
      fire(id, at, `third/${id}`, next_runs[0].replace('.000Z', '+00:00')),
    ]);
    assert.equal((await settled(id, 1)).length, 1);
    const message = await stack.pool.query(
      `select 1 from messages where tenant_id = $1 and text = 'Twice?' and role = 'user'`,
      [stack.tenant],
    );
    assert.equal(message.rowCount, 1);
  });

  it('one that is to skip is skipped while an earlier run goes on, and said so; one that may overlap is not', async () => {
    for (const overlap of ['skip', 'allow']) {
      const { id, next_runs } = await add({
        name: `waits-${overlap}`,
        schedule: YEARLY,
        message: 'poke {"note":"tea"}',
        overlap,
      });
      for (const at of next_runs.slice(0, 2)) await fire(id, new Date(at));
      const [second, first] = await runsOf(id);
      assert.notEqual(first.status, 'skipped');
      assert.equal(second.status === 'skipped', overlap === 'skip');
      assert.equal(second.reason, overlap === 'skip' ? 'an earlier run goes on' : null);
    }
  });

  it('what is late by more than its catch-up, paused, or no instant of it any more, is skipped with the reason', async () => {
    const { id } = await add({
      name: 'late',
      schedule: { kind: 'every', every_seconds: 60 },
      message: 'Late.',
    });
    await stack.pool.query(
      `update schedules set timing = timing || '{"from":"2026-01-01T00:00:00Z"}', catchup_seconds = 60 where id = $1`,
      [id],
    );
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    await fire(id, new Date(minute - 600_000));
    await fire(id, new Date(minute + 61_000));
    await stack.ask('PATCH', `/v1/schedules/${id}`, { body: { enabled: false } });
    await fire(id, new Date(minute + 120_000));
    assert.deepEqual(
      (await runsOf(id)).map(({ status, reason }) => [status, reason]),
      [
        ['skipped', 'the schedule is paused'],
        ['skipped', 'the schedule was changed and does not run then'],
        ['skipped', 'it is more than 60 seconds late'],
      ],
    );
    assert.equal((await handle(id).describe()).state.paused, true);
  });

  it('a run that is wanted now begins though it is paused, once for a key', async () => {
    const { id } = await add({ name: 'now', schedule: YEARLY, message: 'Now.', enabled: false });
    const expected = (): Promise<Answer> =>
      stack.ask('POST', `/v1/schedules/${id}/run`, { body: {}, headers: { 'idempotency-key': 'k1' } });
    assert.equal((await expected()).status, 202);
    assert.equal((await expected()).status, 202);
    const [run, ...others] = await settled(id, 1);
    assert.deepEqual([run.status, run.forced, others], ['completed', true, []]);
  });

  it('what Temporal has lost is made again by the sweep, and what was missed meanwhile begins', async () => {
    const { id } = await add({
      name: 'lost',
      schedule: { kind: 'every', every_seconds: 600 },
      message: 'Here.',
    });
    await handle(id).delete();
    await stack.pool.query(
      `update schedules set timing = timing || jsonb_build_object('from', now() - interval '1 hour 2 minutes'),
         next_at = date_trunc('second', now() - interval '1 hour 2 minutes') + interval '1 hour' where id = $1`,
      [id],
    );
    await sweep();
    assert.equal((await handle(id).describe()).state.paused, false);
    const [run, ...more] = await settled(id, 1);
    assert.deepEqual([run.status, run.forced, more], ['completed', false, []]);
  });

  it('a row whose Temporal Schedule could not be made, or is an older one, is followed by the next sweep', async () => {
    const { id } = await add({ name: 'follows', schedule: YEARLY, message: 'x' });
    await stack.pool.query(`update schedules set enabled = false, revision = revision + 1 where id = $1`, [
      id,
    ]);
    await sweep();
    assert.equal((await handle(id).describe()).state.paused, true);
    await stack.pool.query(`update schedules set deleted_at = now() where id = $1`, [id]);
    await sweep();
    await assert.rejects(handle(id).describe());
  });

  it('has the rights of the key that made it as long as that has them', async () => {
    const key = await stack.makeKey(['read', 'run']);
    const made = await add(
      { name: 'keyed', schedule: YEARLY, message: 'datetime {}', overlap: 'allow' },
      key,
    );
    await fire(made.id, new Date(made.next_runs[0]));
    await settled(made.id, 1);
    const { rows } = await stack.pool.query(`select rights ->> 'key' as key from schedules where id = $1`, [
      made.id,
    ]);
    assert.equal((await stack.ask('DELETE', `/v1/api-keys/${rows[0].key}`)).status, 204);
    await fire(made.id, new Date(made.next_runs[1]));
    const [run] = await settled(made.id, 2);
    assert.equal(run.status, 'refused');
    assert.match(run.reason, /API key .* was revoked/);
  });

  it('keys of a user see and change their own only; a session that is another’s is none to them', async () => {
    const ann = await stack.makeKey(['read', 'run'], { user: 'ann' });
    const bob = await stack.makeKey(['read', 'run'], { user: 'bob' });
    const { id } = await add({ name: 'anns', schedule: YEARLY, message: 'x' }, ann);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['GET', '/runs'],
      ['POST', '/run'],
    ] as const)
      assert.equal(
        (
          await stack.ask(method, `/v1/schedules/${id}${path}`, {
            key: bob,
            ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
          })
        ).status,
        404,
      );
    const listed = await stack.ask('GET', '/v1/schedules', { key: ann });
    assert.deepEqual(
      listed.body.data.map((row: any) => row.name),
      ['anns'],
    );
    const body = { name: 'x', schedule: YEARLY, message: 'x', deliver: 'session', session: 'of-ann' };
    await stack.worker.ended((await stack.worker.say('of-ann', 'Hello.', { user: 'ann' })).turn_id);
    assert.equal((await stack.ask('POST', '/v1/schedules', { body, key: bob })).status, 404);
  });

  it('bad ones are refused with the reason', async () => {
    const base = { name: 'bad', schedule: YEARLY, message: 'x' };
    for (const [body, status, words] of [
      [{ ...base, schedule: { kind: 'cron', expr: '0 9 30 2 *' } }, 422, /never comes/],
      [{ ...base, schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'Mars/One' } }, 422, /unknown time zone/],
      [{ ...base, deliver: 'channel' }, 400, /must be session or none/],
      [{ ...base, deliver: 'session' }, 422, /say in which session/],
      [{ ...base, agent: 'nobody' }, 422, /no agent nobody/],
      [{ ...base, name: 'morning-report' }, 409, /has a schedule morning-report already/],
    ] as const) {
      const { status: value, body: answer } = await stack.ask('POST', '/v1/schedules', { body });
      assert.equal(value, status, JSON.stringify(answer));
      assert.match(JSON.stringify(answer), words);
    }
  });

  it('an agent has at most so many', async () => {
    await stack.pool.query(
      `insert into schedules (tenant_id, id, name, agent_key, message, timing, delete_after_run, enabled, overlap, catchup_seconds,
         rights, created_by, planned) select $1, 'm' || n, 'm' || n, 'leaver', 'x', '{"kind":"cron","expr":"0 9 1 1 *","tz":"UTC"}', false, false,
         'skip', 60, '{}', 'x', 1 from generate_series(1, $2::int) n`,
      [stack.tenant, SCHEDULE_LIMITS.perAgent],
    );
    const { status, body } = await stack.ask('POST', '/v1/schedules', {
      body: { name: 'more', agent: 'leaver', schedule: YEARLY, message: 'x' },
    });
    assert.deepEqual([status, body.code], [409, 'Conflict']);
    assert.equal((await stack.ask('DELETE', '/v1/agents/leaver')).status, 204);
    await sweep();
    const remaining = await stack.pool.query(`select 1 from schedules where agent_key = 'leaver'`);
    assert.equal(remaining.rowCount, 0, 'those of a deleted agent go');
  });

  it('forgetting a user removes theirs, rows and Temporal Schedules', async () => {
    const { id } = await add({ name: 'zoes', user: 'zoe', schedule: YEARLY, message: 'quoll' });
    const { body } = await stack.ask('DELETE', '/v1/users/zoe');
    await stack.worker.until('the receipt', async () =>
      (await stack.ask('GET', `/v1/forgettings/${body.id}`)).body.status === 'done' ? true : undefined,
    );
    const { rowCount } = await stack.pool.query('select 1 from schedules where id = $1', [id]);
    assert.equal(rowCount, 0);
    await assert.rejects(handle(id).describe());
  });

  it('forgetting a session removes what was made there', async () => {
    const schedule = { kind: 'cron', expr: '0 9 1 1 *' };
    const job = { name: 'secretly', schedule, message: 'x', deliver: 'none' };
    const { jobId } = JSON.parse((await call('forgotten', { action: 'add', job })).result);
    await stack.ask('DELETE', '/v1/sessions/forgotten');
    await stack.worker.until('the end of it', async () =>
      (await stack.ask('GET', `/v1/schedules/${jobId}`)).status === 404 ? true : undefined,
    );
  });
});
