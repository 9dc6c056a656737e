/** DU-8: one schedule of the deployment handles what nothing else does, and is visible in the Temporal UI. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sweepId, SWEEP, type SweepReport } from '#domain/sweep.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

describe('DU-8 the sweep', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({});
  });
  after(() => stack.stop());

  const runSweep = (): Promise<SweepReport> =>
    stack.worker.client.workflow.execute(SWEEP.type, {
      workflowId: `${sweepId(stack.worker.taskQueue)}/test`,
      taskQueue: stack.worker.taskQueue,
    });

  it('prunes answers that were kept for repeated requests, after a day', async () => {
    await stack.pool.query(
      `insert into idempotency_keys (tenant_id, api_key_id, key, request_hash, created_at)
       values ($1, 'k', 'old', 'h', now() - interval '25 hours'), ($1, 'k', 'new', 'h', now())`,
      [stack.tenant],
    );
    const report = await runSweep();
    assert.ok((report.prune_rows ?? 0) >= 1);
    const { rows } = await stack.pool.query('select key from idempotency_keys where tenant_id = $1', [
      stack.tenant,
    ]);
    assert.deepEqual(rows, [{ key: 'new' }]);
  });

  it('DU-7 adds model uses to the sums of usage, which stay the same', async () => {
    const { turn_id } = await stack.worker.say('used', 'Hello.', { user: 'ann' });
    await stack.worker.ended(turn_id);
    const read = () =>
      Promise.all(['agent,kind', 'user,session'].map((by) => stack.ask('GET', `/v1/usage?by=${by}`)));
    const recorded = (await read()).map(({ body }) => body.data);
    assert.deepEqual(
      recorded[1].map(({ user, session, calls }: Record<string, unknown>) => [user, session, calls]),
      [['ann', 'used', 1]],
    );
    await runSweep();
    assert.equal((await stack.pool.query('select from model_uses')).rowCount, 0);
    assert.deepEqual(
      (await read()).map(({ body }) => body.data),
      recorded,
    );
  });

  it('one part that fails keeps none of the others from theirs', async () => {
    await stack.pool.query('alter table idempotency_keys rename to idempotency_keys_away');
    try {
      const report = await runSweep();
      assert.equal(report.prune_rows, null);
      assert.equal(report.reap_boxes, 0);
    } finally {
      await stack.pool.query('alter table idempotency_keys_away rename to idempotency_keys');
    }
  });

  it('is made once for a task queue, however many workers start, and stays paused when somebody paused it', async () => {
    const { temporal, client, taskQueue } = stack.worker;
    await Promise.all([temporal.ensureSweep(), temporal.ensureSweep()]);
    const handle = client.schedule.getHandle(sweepId(taskQueue));
    try {
      await handle.pause('looked at');
      await temporal.ensureSweep();
      const { state, spec, action } = await handle.describe();
      assert.equal(state.paused, true);
      assert.deepEqual(
        spec.intervals?.map(({ every }) => every),
        [SWEEP.everySeconds * 1000],
      );
      assert.equal(action.type === 'startWorkflow' && action.workflowType, SWEEP.type);
      await handle.unpause();
      for (let start = 1; start <= 3; start += 1) await handle.trigger('SKIP');
      const [open, ...others] = await stack.worker.until('its run', async () => {
        const { info } = await handle.describe();
        return info.runningActions.length > 0 ? info.runningActions : undefined;
      });
      assert.ok(open?.type === 'startWorkflow');
      assert.deepEqual(others, []);
      const run = client.workflow.getHandle(open.workflow.workflowId);
      await stack.worker.until(
        'a sweep of it',
        async () =>
          (await run.fetchHistory()).events?.some((event) => event.timerStartedEventAttributes) || undefined,
      );
      assert.equal((await run.describe()).status.name, 'RUNNING');
      await run.terminate();
    } finally {
      await handle.delete();
    }
  });
});
