/** What a tool host hands to Temporal, which stores it: nothing of a tool's own words (DU-2, SC-3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { z } from 'zod';
import { openPayload, sealPayload } from '#domain/payload-seal.ts';
import { HOST_WORK, hostWorkPlace } from '../contract.ts';
import { createHostActivities } from '../host/host-activities.ts';
import { type CodeTool, tool, type ToolSpec } from '../sdk/tool.ts';

const KEY = new Uint8Array(32).fill(5);
const SECRET = 'sk-live-0123456789';

function refundTool(more: Partial<ToolSpec<z.ZodType>>): CodeTool {
  const input = z.object({ order: z.string() });
  return tool({ description: 'Refunds', input, replay: 'once', run: () => 'refunded', ...more });
}

/** Performs an activity of the tool as a worker does. */
async function perform(type: 'run' | 'probe', refund: CodeTool, environment?: MockActivityEnvironment) {
  const id = 'tool/t/call_1/1';
  const context = { idempotencyKey: 'k', agent: 'main', user: null, session: 's', turn: 't', call: 'c' };
  const request = { tool: 'refund', input: { order: 'A17' }, secrets: { shop: SECRET }, context };
  const sealed = await sealPayload(KEY, hostWorkPlace(id, 'request'), new Uint8Array(12), request);
  const activity = createHostActivities(new Map([['refund', refund]]), new Map(), KEY)[HOST_WORK[type]];
  const worker = environment ?? new MockActivityEnvironment({ activityId: id });
  const result: Uint8Array = await worker.run(() => activity(sealed));
  return openPayload(KEY, hostWorkPlace(id, 'result'), result);
}

/** Calls `work`, and returns what it writes to stderr. */
async function withStderr(work: () => Promise<unknown>): Promise<string> {
  const { error } = console;
  let written = '';
  console.error = (text: string) => void (written += `${text}\n`);
  try {
    await work();
  } finally {
    console.error = error;
  }
  return written;
}

describe('DU-2 SC-3 a tool host', () => {
  it('fails a probe that throws with words of its own, and says the probe’s on stderr without secrets', async () => {
    const probe = ({ order }: any): never => {
      throw new Error(`no answer about ${order} with ${SECRET}`, { cause: new Error(order) });
    };
    const written = await withStderr(() =>
      assert.rejects(perform('probe', refundTool({ probe })), (error: unknown) => {
        assert.ok(error instanceof ApplicationFailure);
        assert.equal(error.message, 'refund has failed; its process says why');
        assert.equal(error.nonRetryable, false);
        assert.equal(error.cause, undefined);
        assert.doesNotMatch(String(error.stack), /A17|sk-live/);
        return true;
      }),
    );
    assert.equal(written, 'refund: no answer about A17 with [secret shop]\n');
  });

  it('returns what a check of the arguments throws as the result of a run', async () => {
    const input = z.object({ order: z.string() }).refine(({ order }) => {
      throw new Error(`cannot check ${order}`);
    });
    assert.deepEqual(await perform('run', refundTool({ input })), {
      ok: false,
      code: 'ExecutionFailed',
      message: 'cannot check A17',
    });
  });

  it('ends a cancelled probe as cancelled, whatever the probe throws then', async () => {
    const environment = new MockActivityEnvironment({ activityId: 'tool/t/call_1/1' });
    const probe = (_input: unknown, { signal }: { signal: AbortSignal }): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('A17 was stopped')));
        environment.cancel();
      });
    await assert.rejects(perform('probe', refundTool({ probe }), environment), CancelledFailure);
  });
});
