/**
 * The threads that workflows run on: the SDK's, or with `worker.lean` our own, which are watched and record no stacks.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker as Thread } from 'node:worker_threads';
import { DefaultLogger } from '@temporalio/worker';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { quietRuntime } from '#test/support/quiet-runtime.ts';
import { WatchedThread } from '#workers/lean/lean-worker.ts';

describe('workflow threads', () => {
  it('one that a workflow does not give back is ended, and whoever waits for it is told', async () => {
    const messages: string[] = [];
    const logger = new DefaultLogger('ERROR', ({ message }) => messages.push(message));
    const thread = new WatchedThread(new Thread('for (;;);', { eval: true }), logger, 200);
    await assert.rejects(thread.send({ type: 'dispose-workflow', runId: 'r' }), /thread exited/i);
    assert.match(messages[0] ?? '', /has not yielded/);
  });

  it('are asked for what a workflow logged only when it logged', async () => {
    const answering = `require('node:worker_threads').parentPort.on('message', function ({ requestId, input }) {
      const { type, runId } = input;
      const output = type === 'activate-workflow'
        ? { type: 'activation-completion', completion: { runId }, quiet: runId === 'silent' }
        : { type: 'sink-calls', calls: ['told'] };
      this.postMessage({ requestId, result: { type: 'ok', output } });
    })`;
    const answers = new Thread(answering, { eval: true });
    const thread = new WatchedThread(answers, new DefaultLogger('ERROR'));
    for (const runId of ['silent', 'loud']) {
      await thread.send({ type: 'activate-workflow', runId, activation: {} });
      const calls = await thread.send({ type: 'extract-sink-calls', runId });
      assert.deepEqual(calls, { type: 'sink-calls', calls: runId === 'loud' ? ['told'] : [] });
    }
    await answers.terminate();
  });

  async function stackOf(live: LiveWorker): Promise<string> {
    const { turn_id } = await live.say('s', 'poke {"note":"n"}');
    await live.approvalOf('s');
    const handle = live.client.workflow.getHandle(workflowIdOf(live, 's'));
    await handle.signal('stop', { level: 'now', turn_id: 'turn_of_another' });
    const stack = await handle.query<string>('__stack_trace').catch((error: Error) => error.message);
    await handle.signal('stop', { level: 'now', turn_id });
    await live.ended(turn_id);
    return stack;
  }

  it('answer no question for a stack with `worker.lean`, and say why; what a workflow logs is logged', async () => {
    const messages: string[] = [];
    quietRuntime((message) => messages.push(message));
    const live = await startLiveWorker({ env: { TEMPOCLAW_LEAN_WORKER: 'true' } });
    const stack = await stackOf(live);
    await live.close();
    assert.match(stack, /stack traces are not enabled/);
    assert.ok(messages.includes('signal refused'), messages.join());
  });

  it('answer it otherwise', async () => {
    const live = await startLiveWorker({ ownThreads: true });
    const stack = await stackOf(live);
    await live.close();
    assert.match(stack, /at .*askForApproval.*run-calls\.ts/);
  });
});
