/** DU-12: A workflow that never yields fails its own task, and other sessions continue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';

test('turns of other sessions end while a workflow of one never yields', { timeout: 120_000 }, async (t) => {
  const live = await startLiveWorker({
    changeWorkflows(code) {
      const began = /async function agentTurn\(input\) \{/;
      assert.match(code, began);
      return code.replace(
        began,
        "async function agentTurn(input) { if (input.session_key === 'endless') for (;;);",
      );
    },
  });
  t.after(async () => {
    await live.client.workflow.getHandle(workflowIdOf(live, 'endless')).terminate();
    await live.close();
  });
  const handle = await live.client.workflow.start('agentTurn', {
    workflowId: workflowIdOf(live, 'endless'),
    taskQueue: live.taskQueue,
    args: [{ tenant: live.tenant, session_key: 'endless' }],
  });
  await live.until('its workflow task to have failed', async () => {
    const { events } = await handle.fetchHistory();
    return events?.some((event) => event.workflowTaskFailedEventAttributes) || undefined;
  });
  for (const session of ['a', 'b', 'c']) {
    const { turn_id } = await live.say(session, 'hello');
    assert.equal((await live.ended(turn_id)).status, 'completed');
  }
});
