/** Activities without a workflow: what a Temporal server does not support, does not know or does not answer is distinguished. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ActivityClient, ActivityNotFoundError, ServiceError } from '@temporalio/client';
import { Failure } from '#domain/errors.ts';
import { activitiesOnceOf } from '#temporal/activity-once.ts';

const WORK = {
  id: 'node/t/c',
  type: 'work',
  queue: 'q',
  request: new Uint8Array(1),
  terms: { scheduleToCloseTimeout: 1_000 },
};

const ofGrpc = (code: number): Error =>
  Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} });

/** Queues of a server that answers each start with this gRPC code. */
function queuesOf(code: number) {
  const start = () => Promise.reject(new Error('Failed to start activity', { cause: ofGrpc(code) }));
  const connection = { withAbortSignal: () => Promise.reject(new Error('nothing was begun')) };
  const activity = { start } as unknown as ActivityClient;
  return activitiesOnceOf({ activity, connection: connection as never, ask: (request) => request() });
}

/** Queues of a server that starts everything, and answers waiting clients with this error; `begun` has the ids. */
function waitingOf(error: Error) {
  const started: string[] = [];
  const activity = {
    start: async (_type: string, { id }: { readonly id: string }) => void started.push(id),
    getHandle: () => ({
      async result() {
        throw error;
      },
    }),
  };
  const connection = { withAbortSignal: (_signal: AbortSignal, request: () => unknown) => request() };
  const queues = activitiesOnceOf({
    activity: activity as never,
    connection: connection as never,
    ask: (request) => request(),
  });
  return { begun: started, queues };
}

describe('activities without a workflow, from their client', () => {
  const { signal } = new AbortController();
  const AWAY = new ServiceError('Failed to get activity result', { cause: ofGrpc(14) });

  it('a server that is too old is told as unsupported', async () => {
    assert.equal(await queuesOf(12).run(WORK, signal), 'unsupported');
  });

  it('a server that is away is an error, which is tried again', async () => {
    await assert.rejects(queuesOf(14).run(WORK, signal), /Failed to start activity/);
  });

  it('one that goes away while a node works is asked again, until the time and what is granted beyond it are over', async () => {
    const isAway = (error: unknown): boolean => error instanceof Failure && error.type === 'Unavailable';
    const { begun, queues } = waitingOf(AWAY);
    await assert.rejects(queues.run(WORK, signal), isAway);
    await assert.rejects(queues.run({ ...WORK, terms: undefined }, signal), isAway);
    assert.equal(await queues.run({ ...WORK, terms: undefined, isOver: true }, signal), 'unknown');
    assert.deepEqual(begun, [WORK.id]);
  });

  it('what it does not know is not begun when its time is over, and its outcome is unknown', async () => {
    const { begun, queues } = waitingOf(new ActivityNotFoundError('not found'));
    assert.equal(await queues.run({ ...WORK, terms: undefined }, signal), 'unknown');
    assert.deepEqual(begun, []);
  });
});
