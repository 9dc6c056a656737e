/** DU-4: a stop that meets a failure of what it stops. The worker's activities are the test's. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApplicationFailure, cancelled, heartbeat } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { userCacheDir } from '#config';
import { AGENT_TURN, type AgentTurnInput, type TurnOutcome } from '#domain/turn/turn.ts';
import type { EndTurnInput } from '#domain/turn/turn-activities.ts';
import { quietRuntime } from '#test/support/quiet-runtime.ts';
import { loadWorkflowBundle } from '#workers/bundle.ts';
import { ContainedWorker } from '#workers/contained/contained-worker.ts';

test('DU-4 a turn that is stopped while its model call fails ends as stopped, and a call that fails alone as failed', async (t) => {
  quietRuntime();
  const address = process.env['TEST_TEMPORAL_ADDRESS'];
  if (!address) throw new Error('TEST_TEMPORAL_ADDRESS is not set: run the tests with `npm test`');
  const connection = await NativeConnection.connect({ address });
  const clientConnection = await Connection.connect({ address });
  const client = new Client({ connection: clientConnection });
  const ends: EndTurnInput[] = [];
  const { bundle } = await loadWorkflowBundle(join(userCacheDir(), 'test-bundles'), []);
  const taskQueue = `q-${randomBytes(5).toString('hex')}`;
  const worker = await ContainedWorker.create({
    connection,
    taskQueue,
    workflowBundle: bundle,
    defaultHeartbeatThrottleInterval: '100 milliseconds',
    maxHeartbeatThrottleInterval: '100 milliseconds',
    activities: {
      async call_model({ session }: { readonly session: string }) {
        const failure = ApplicationFailure.nonRetryable('the model is broken', 'ModelFailed');
        if (session === 'stopped') {
          const timer = setInterval(() => heartbeat(), 50);
          await cancelled().catch(() => undefined);
          clearInterval(timer);
        }
        throw failure;
      },
      async end_turn(input: EndTurnInput) {
        ends.push(input);
        return { status: input.status, isPending: false };
      },
      hasten_stop: async () => undefined,
    },
  });
  const running = worker.run();
  t.after(async () => {
    worker.shutdown();
    await running;
    await clientConnection.close();
    await connection.close();
  });

  for (const session of ['alone', 'stopped']) {
    const turn = { turnId: `turn_${session}`, messages: [{ id: session }] };
    const input: AgentTurnInput = {
      tenant: taskQueue,
      session_key: session,
      carry: { queue: [turn], seen: [] },
    };
    const handle = await client.workflow.start<(input: AgentTurnInput) => Promise<TurnOutcome>>(
      AGENT_TURN.type,
      {
        workflowId: `session/${taskQueue}/${session}`,
        taskQueue,
        args: [input],
      },
    );
    if (session === 'stopped')
      await handle.signal(AGENT_TURN.signals.stop, { level: 'now', turn_id: turn.turnId, by: 'ann' });
    await handle.result();
  }
  assert.deepEqual(
    ends.map(({ turn, status, error }) => [turn, status, error?.code]),
    [
      ['turn_alone', 'failed', 'ModelFailed'],
      ['turn_stopped', 'stopped', undefined],
    ],
  );
});
