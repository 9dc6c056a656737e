/** cron: schedules that an agent makes for itself. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { runIdOf, SCHEDULED_MESSAGE } from '../contract/schedule.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('TL cron, the tool', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({ agents: [{ key: 'planner' }] });
  });
  after(() => stack.stop());

  const call = async (session: string, args: object, agent = 'main'): Promise<any> => {
    const { turn_id } = await stack.worker.say(session, `cron ${JSON.stringify(args)}`, { agent });
    await stack.worker.ended(turn_id);
    return (await stack.worker.calls(turn_id))[0];
  };
  const fire = (id: string, at: Date): Promise<unknown> =>
    stack.worker.client.workflow.execute(SCHEDULED_MESSAGE, {
      workflowId: runIdOf(stack.tenant, id, at),
      taskQueue: stack.worker.taskQueue,
      args: [{ tenant: stack.tenant, schedule: id, at: at.toISOString() }],
    });
  const settled = (id: string): Promise<any> =>
    stack.worker.until(`a run of ${id}`, async () => {
      const [run] = (await stack.ask('GET', `/v1/schedules/${id}/runs`)).body.data ?? [];
      return ['completed', 'failed', 'skipped', 'refused'].includes(run?.status) ? run : undefined;
    });

  const job = {
    name: 'tea',
    schedule: { kind: 'cron', expr: '*/20 8-18 * * 1-5', tz: 'Europe/Berlin' },
    message: 'Tea?',
  };

  it('is added, listed, changed, run and removed, with its next five runs', async () => {
    const added = JSON.parse((await call('kitchen', { action: 'add', job }, 'planner')).result);
    assert.equal(added.next_runs.length, 5);
    assert.match(added.next_runs[0], /^\d{4}-\d\d-\d\dT\d\d:[024]0:00\.000Z$/);
    const { jobId } = added;
    const run = await call('kitchen', { action: 'run', id: jobId }, 'planner');
    assert.equal(run.ok, true);
    const received = await stack.worker.until('the message', async () =>
      (await stack.worker.heard('kitchen')).find(({ text }) => text === 'Tea?'),
    );
    await stack.worker.ended(received.turn_id);
    const { runs } = JSON.parse((await call('kitchen', { action: 'runs', jobId }, 'planner')).result);
    assert.deepEqual(
      runs.map(({ status, session_key }: any) => [status, session_key]),
      [['completed', 'kitchen']],
    );
    const patch = { enabled: false, schedule: { kind: 'every', everyMs: 60_000 } };
    const changed = JSON.parse((await call('kitchen', { action: 'update', jobId, patch }, 'planner')).result);
    assert.deepEqual([changed.enabled, changed.schedule.every_seconds, changed.next_runs], [false, 60, []]);
    const listed = async (more: object) =>
      JSON.parse((await call('kitchen', { action: 'list', ...more }, 'planner')).result).jobs.length;
    assert.equal(await listed({}), 0);
    assert.equal(await listed({ includeDisabled: true }), 1);
    assert.equal((await call('kitchen', { action: 'remove', jobId }, 'planner')).ok, true);
    assert.equal(await listed({ includeDisabled: true }), 0);
  });

  it('is meant by its name too', async () => {
    const added = JSON.parse(
      (await call('named', { action: 'add', job: { ...job, name: 'by-name' } })).result,
    );
    const onRequest = async (args: object) =>
      JSON.parse((await call('named', { jobId: 'by-name', ...args })).result);
    const changed = await onRequest({ action: 'update', patch: { message: 'Milk?' } });
    assert.deepEqual([changed.jobId, changed.message], [added.jobId, 'Milk?']);
    const due = await onRequest({ action: 'run', runMode: 'due' });
    assert.deepEqual([due.ran, typeof due.next_run], [false, 'string']);
    assert.deepEqual(await onRequest({ action: 'runs' }), { runs: [] });
    await onRequest({ action: 'remove' });
    assert.match((await call('named', { action: 'remove', jobId: 'by-name' })).result, /no schedule by-name/);
  });

  for (const [args, words] of [
    [{ action: 'add' }, /job is required/],
    [{ action: 'add', job: { ...job, schedule: { kind: 'cron', expr: '0 9 31 2 *' } } }, /never comes/],
    [{ action: 'add', job: { ...job, channel: 'telegram', to: '7' } }, /the chat in which it was made/],
    [{ action: 'add', job: { ...job, agentId: 'planner' } }, /you are main/],
    [{ action: 'add', job: { ...job, schedule: { kind: 'every', everyMs: 1_500 } } }, /whole seconds/],
    [{ action: 'add', job: { ...job, schedule: { kind: 'at', atMs: 1 } } }, /is over/],
    [{ action: 'add', job: { ...job, schedule: { kind: 'at', at: '2999-05-01T09:00' } } }, /with its offset/],
    [{ action: 'add', job: { ...job, schedule: { kind: 'at', at: 'May 2999' } } }, /with its offset/],
    [{ action: 'add', job: { ...job, message: undefined } }, /job\.message: is required/],
    [{ action: 'remove', jobId: 'mornings-1' }, /no schedule mornings-1 of yours/],
  ] as const)
    it(`${JSON.stringify(args).slice(0, 90)} is refused`, async () => {
      const { ok, result } = await call('refused', args);
      assert.equal(ok, false);
      assert.match(result, words);
    });

  it('one that an agent made runs with the tools that it had, and no more when it may not use cron itself', async () => {
    const schedule = { kind: 'cron', expr: '0 9 1 1 *' };
    const made = JSON.parse(
      (await call('rights', { action: 'add', job: { name: 'rights', schedule, message: 'Go.' } }, 'planner'))
        .result,
    );
    const { rows } = await stack.pool.query('select rights from schedules where id = $1', [made.jobId]);
    assert.ok(rows[0].rights.allowed_tools.includes('cron'));
    await stack.ask('PATCH', '/v1/agents/planner', { body: { tools: { deny: ['cron'] } } });
    await fire(made.jobId, new Date(made.next_runs[0]));
    const run = await settled(made.jobId);
    assert.deepEqual(
      [run.status, run.reason],
      ['refused', 'the agent planner, which made it, may not use cron any more'],
    );
  });

  it('SA-3: a subagent has none', async () => {
    const task = `cron ${JSON.stringify({ action: 'list' })}`;
    const { turn_id } = await stack.worker.say('parent', `spawn ${JSON.stringify({ task, mode: 'sync' })}`);
    await stack.worker.ended(turn_id);
    const { rows } = await stack.pool.query(
      `select code from tool_calls where tenant_id = $1 and tool = 'cron' and session_key like 'subagent:%'`,
      [stack.tenant],
    );
    assert.deepEqual(rows, [{ code: 'PermissionDenied' }]);
  });
});
