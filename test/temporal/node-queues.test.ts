/** TL nodes on a task queue: a Temporal server that has no activities without a workflow is told, and nothing else is taken for that. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActivityClient } from '@temporalio/client';
import { nodeQueuesOf } from '#temporal/node-queues.ts';

const WORK = { id: 'node/t/c', queue: 'q', asked: new Uint8Array(1), milliseconds: 1_000 };

/** Of a server that answers each start with this code of gRPC. */
function queuesOf(code: number) {
  const refused = Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} });
  const start = () => Promise.reject(new Error('Failed to start activity', { cause: refused }));
  const connection = { withAbortSignal: () => Promise.reject(new Error('nothing was begun')) };
  return nodeQueuesOf({ start } as unknown as ActivityClient, connection as never, (request) => request());
}

describe('TL nodes on a task queue of an old server', () => {
  const { signal } = new AbortController();

  it('is told as unsupported', async () => {
    assert.equal(await queuesOf(12).run(WORK, signal), 'unsupported');
  });

  it('a server that is away is an error, which is tried again', async () => {
    await assert.rejects(queuesOf(14).run(WORK, signal), /Failed to start activity/);
  });
});
