/** DU-1, DU-10: a workflow task that was prolonged, because a local activity took long, replays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { CallModelInput } from '#domain/turn/turn-activities.ts';
import { quietRuntime } from '#test/support/quiet-runtime.ts';
import { bundleWith, replayHistories } from '#test/support/replay.ts';
import type { InlineModelInput } from '../contract.ts';
import type { chain } from './chain-workflow.ts';

const STEPS = 30;
/** The server prolongs a task when four fifths of this are over. */
const TASK_MS = 1_000;
/** Steps go on within a task for half a second. */
const FIRST_MS = 1_300;
const OTHERS_MS = 30;

const INPUT: CallModelInput = { tenant: 't', session: 's', turn: 'turn_1', step: 1, messages: [] };

describe('DU-10 a prolonged workflow task', () => {
  it('replays, however long the steps in it went on', async () => {
    quietRuntime();
    const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? assert.fail('run it by npm test');
    const workflowBundle = await bundleWith(new URL('./chain-workflow.ts', import.meta.url));
    const taskQueue = `prolonged-${performance.timeOrigin.toFixed()}-${process.pid}`;
    const native = await NativeConnection.connect({ address });
    const worker = await Worker.create({
      connection: native,
      taskQueue,
      workflowBundle,
      activities: {
        async call_model({ step }: InlineModelInput) {
          await sleep(step === 1 ? FIRST_MS : OTHERS_MS);
          return { kind: 'answer', inlineNext: step % 10 === 0 ? undefined : true };
        },
      },
    });
    const running = worker.run();
    const connection = await Connection.connect({ address });
    const { workflow } = new Client({ connection });
    try {
      const handle = await workflow.start<typeof chain>('chain', {
        workflowId: taskQueue,
        taskQueue,
        args: [INPUT, STEPS],
        workflowTaskTimeout: TASK_MS,
      });
      await handle.result();
      const history = await handle.fetchHistory();
      const tasks =
        history.events?.filter(({ workflowTaskStartedEventAttributes: started }) => started) ?? [];
      assert.ok(tasks.length > 2, 'the first task was prolonged');
      const replayed = [];
      for await (const { error } of replayHistories(workflowBundle, [{ workflowId: taskQueue, history }]))
        replayed.push(error);
      assert.deepEqual(replayed, [undefined]);
    } finally {
      worker.shutdown();
      await running;
      await Promise.all([native.close(), connection.close()]);
    }
  });
});
