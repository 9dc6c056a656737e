/** DU-12: A workflow that never yields fails its own task. The workers live, and other sessions continue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LiveWorkerOptions, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

test('turns of other sessions end while a workflow of one never yields', { timeout: 180_000 }, async (t) => {
  const options: LiveWorkerOptions = {
    // What it leaves waiting runs only after it was cut off. The rejection is its own, and no other run's.
    changeWorkflows(code) {
      const began = /async function agentTurn\(input\) \{/;
      assert.match(code, began);
      return code.replace(
        began,
        `async function agentTurn(input) {
          if (input.session_key === 'endless') { void Promise.resolve().then(() => { Date.now(); throw new Error('late'); }); for (;;); }`,
      );
    },
  };
  const live = await startLiveWorker(options);
  const { tenant, databaseUrl } = live;
  const others = [await startLiveWorker({ ...options, beside: { tenant, databaseUrl } })];
  others.push(await startLiveWorker({ ...options, beside: { tenant, databaseUrl } }));
  const handle = await live.client.workflow.start('agentTurn', {
    workflowId: workflowIdOf(live, 'endless'),
    taskQueue: live.taskQueue,
    args: [{ tenant: live.tenant, session_key: 'endless' }],
  });
  t.after(async () => {
    await handle.terminate();
    // A worker that has ended early rejects.
    await Promise.all(others.map((other) => other.close()));
    await live.close();
  });
  await live.until('its workflow task to have been tried three times', async () => {
    const { raw } = await handle.describe();
    return (raw.pendingWorkflowTask?.attempt ?? 0) > 3 || undefined;
  });
  for (const session of Array.from({ length: 12 }, (_, n) => `s${n}`)) {
    const { turn_id } = await live.say(session, 'hello');
    assert.equal((await live.ended(turn_id)).status, 'completed');
  }
});
