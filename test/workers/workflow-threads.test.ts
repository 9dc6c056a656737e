/** The threads that workflows run on: they are watched, and note where promises were made only when asked to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker as Thread } from 'node:worker_threads';
import { DefaultLogger } from '@temporalio/worker';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { WatchedThread } from '#workers/workflow-threads.ts';

describe('workflow threads', () => {
  it('one that a workflow does not give back is ended, and whoever waits for it is told', async () => {
    const told: string[] = [];
    const logger = new DefaultLogger('ERROR', ({ message }) => told.push(message));
    const thread = new WatchedThread(new Thread('for (;;);', { eval: true }), logger, 200);
    await assert.rejects(thread.send({ type: 'dispose-workflow', runId: 'r' }), /thread exited/i);
    assert.match(told[0] ?? '', /has not yielded/);
  });

  async function stackOf(live: LiveWorker): Promise<string> {
    const { turn_id } = await live.say('s', 'poke {"note":"n"}');
    await live.approvalOf('s');
    const handle = live.client.workflow.getHandle(workflowIdOf(live, 's'));
    const stack = await handle.query<string>('__stack_trace').catch((error: Error) => error.message);
    await handle.signal('stop', { level: 'now', turn_id });
    await live.ended(turn_id);
    return stack;
  }

  it('answer no question for a stack, and say why', async () => {
    const live = await startLiveWorker();
    assert.match(await stackOf(live), /stack traces are not enabled/);
    await live.close();
  });

  it('answer it when `worker.stackTraces` is set', async () => {
    const live = await startLiveWorker({ env: { TEMPOCLAW_STACK_TRACES: 'true' } });
    assert.match(await stackOf(live), /at .*askForApproval.*run-calls\.ts/);
    await live.close();
  });
});
