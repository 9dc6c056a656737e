/** Turns as Nexus operations of a workflow in another namespace, on a real server. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { CancelledFailure, NexusOperationFailure } from '@temporalio/common';
import { WorkflowFailedError } from '@temporalio/client';
import { asyncLocalStorage, type HandlerContext } from '@temporalio/nexus/lib/context.js';
import { generateWorkflowRunOperationToken } from '@temporalio/nexus/lib/token.js';
import { HandlerError } from 'nexus-rpc';
import { type LiveWorker, startLiveWorker, workflowIdOf } from '#test/support/live-worker.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { createTestDatabase } from '#test/support/test-database.ts';
import { createRunTurn } from '../run-turn.ts';
import { type NexusCaller, startCaller } from './caller.ts';

describe('IN-11 turns as Nexus operations', { concurrency: 4 }, () => {
  const tenant = `t${randomBytes(5).toString('hex')}`;
  const [anns, any, unbound] = [`ann-${tenant}`, `any-${tenant}`, `other-${tenant}`];
  const settings = JSON.stringify({
    nexus: {
      endpoints: {
        [anns]: { tenant, user: 'ann', agents: ['main', 'nobody'] },
        [any]: { tenant },
      },
    },
  });
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let stack: Stack;
  let caller: NexusCaller;
  before(async () => {
    database = await createTestDatabase();
    stack = await startStack({
      settings,
      beside: { tenant, databaseUrl: database.url },
      agents: [{ key: 'other', model: 'rehearsal/follow' }],
    });
    caller = await startCaller(process.env['TEST_TEMPORAL_ADDRESS'] ?? assert.fail('run it by npm test'));
    for (const endpoint of [anns, any, unbound]) await caller.connect(endpoint, `q-${tenant}`);
  });
  after(async () => {
    await caller?.stop();
    await stack?.stop();
    await database?.drop();
  });

  /** The refusal of the operation, which nothing tried again. */
  async function refusalOf(...args: Parameters<NexusCaller['ask']>): Promise<HandlerError> {
    const failed = await caller.ask(...args).then(
      (turn) => assert.fail(`it was taken: ${JSON.stringify(turn)}`),
      (error: unknown) => error,
    );
    assert.ok(failed instanceof WorkflowFailedError && failed.cause instanceof NexusOperationFailure);
    const { cause } = failed.cause;
    assert.ok(cause instanceof HandlerError, String(cause));
    return cause;
  }
  const turnsOf = async (session: string): Promise<{ id: string; status: string }[]> =>
    (await stack.ask('GET', `/v1/sessions/${session}/turns`)).body.data;

  it('complete with the answer, in a conversation of their own or in one that goes on', async () => {
    const alone = await caller.ask(anns, 'Walrus alone.');
    assert.deepEqual([alone.status, alone.text], ['completed', 'Walrus alone.']);
    assert.match(alone.session, /^nexus:/);
    const turns = await Promise.all(
      ['one', 'two'].map((text) => caller.ask(anns, `Walrus ${text}.`, 'talk')),
    );
    assert.deepEqual(turns.map(({ text }) => text).toSorted(), ['Walrus one.', 'Walrus two.']);
    assert.equal((await turnsOf('talk')).length, 2);
    const { body } = await stack.ask('GET', '/v1/sessions/talk');
    assert.equal(body.user, 'ann');
  });

  it('stay open while an approval waits, and end with what was decided', async () => {
    const handle = await caller.start(anns, 'poke {"note":"nexus"}\nthen\nPoked.', 'approve');
    const approval = await stack.worker.approvalOf('approve');
    assert.equal((await handle.describe()).status.name, 'RUNNING');
    await stack.ask('POST', `/v1/approvals/${approval}/decision`, { body: { decision: 'approve' } });
    assert.equal((await handle.result()).text, 'Poked.');
    assert.equal(stack.worker.probes.effects.filter(({ note }) => note === 'nexus').length, 1);
  });

  it('stop their turn when they are cancelled', async () => {
    const handle = await caller.start(anns, 'wait {"timeMs":60000}', 'cancel');
    await stack.worker.until('the turn to run', async () =>
      (await stack.worker.turns('cancel'))[0]?.status === 'running' ? true : undefined,
    );
    await handle.cancel();
    const failed = await handle.result().catch((error: unknown) => error);
    assert.ok(failed instanceof WorkflowFailedError, String(failed));
    const { cause } = failed;
    assert.ok(cause instanceof CancelledFailure || cause?.cause instanceof CancelledFailure, String(cause));
    assert.equal((await turnsOf('cancel'))[0]?.status, 'stopped');
  });

  it('complete with how the turn ended when somebody stops it', async () => {
    const handle = await caller.start(anns, 'wait {"timeMs":60000}', 'stop');
    await stack.worker.until('the turn to be stopped', async () =>
      (await stack.ask('POST', '/v1/sessions/stop/stop', { body: {} })).status === 202 ? true : undefined,
    );
    assert.equal((await handle.result()).status, 'stopped');
  });

  it('are refused in words and without a retry when nothing can come of them', async () => {
    const nothing = await refusalOf(anns, '');
    assert.deepEqual([nothing.type, nothing.retryable], ['BAD_REQUEST', false]);
    assert.match(nothing.message, /InvalidInput.*text/s);
    assert.equal((await refusalOf(anns, 'Hello.', '../up')).type, 'BAD_REQUEST');
    assert.equal((await refusalOf(anns, 'Hello.', undefined, 'nobody')).type, 'NOT_FOUND');
    assert.equal((await refusalOf(any, 'Hello.', `in-${'tc_'.padEnd(47, 'A1b2')}`)).type, 'BAD_REQUEST');
  });

  it('are of the tenant, the user and the agents that the settings name for their endpoint', async () => {
    assert.equal((await refusalOf(unbound, 'Hello.')).type, 'UNAUTHORIZED');
    assert.equal((await refusalOf(anns, 'Hello.', undefined, 'other')).type, 'UNAUTHORIZED');
    const bobs = await stack.ask('POST', '/v1/sessions/of-bob/messages', {
      body: { text: 'Mine.', user: 'bob' },
    });
    await stack.worker.ended(bobs.body.turn_id);
    assert.equal((await refusalOf(anns, 'Mine?', 'of-bob')).type, 'NOT_FOUND');
    assert.equal((await refusalOf(any, 'Mine?', 'of-bob', 'other')).type, 'CONFLICT');
    assert.equal((await caller.ask(any, 'Ours.', 'of-bob')).text, 'Ours.');
    assert.equal((await turnsOf('of-bob')).length, 2);
  });
});

describe('IN-11 cancelling a Nexus operation', () => {
  it('reaches only operations of the endpoint, whatever the token names', async () => {
    const live = await startLiveWorker();
    try {
      const { tenant, temporal: reach } = live;
      const { turn_id } = await live.say('victim', 'wait {"timeMs":60000}');
      await live.until('the turn to run', async () =>
        (await live.turns('victim'))[0]?.status === 'running' ? true : undefined,
      );
      const handler = createRunTurn({
        config: { nexus: { endpoints: { own: { tenant } } } },
        reach,
        wake: () => assert.fail('nothing begins'),
        scrubberOf: () => assert.fail('nothing is read'),
        log: { warn: () => undefined },
      });
      // What the SDK gives a handler for a request of this endpoint.
      const place = { endpoint: 'own' } as HandlerContext;
      const cancel = (workflowId: string): Promise<void> =>
        asyncLocalStorage.run(place, () =>
          handler.cancel({} as never, generateWorkflowRunOperationToken('default', workflowId)),
        );
      for (const id of [workflowIdOf(live, 'victim'), `nexus/${tenant}/other/1`, `nexus/other/own/1`])
        await assert.rejects(cancel(id), { type: 'NOT_FOUND' });
      await cancel(`nexus/${tenant}/own/none`);
      assert.deepEqual(
        (await live.turns('victim')).map(({ id, status }) => [id, status]),
        [[turn_id, 'running']],
      );
    } finally {
      await live.close();
    }
  });
});

describe('IN-11 Nexus operations without a worker', () => {
  it('go on with the next one', async () => {
    const tenant = `t${randomBytes(5).toString('hex')}`;
    const database = await createTestDatabase();
    const endpoint = `lasting-${tenant}`;
    const options = {
      settings: JSON.stringify({ nexus: { endpoints: { [endpoint]: { tenant } } } }),
      beside: { tenant, databaseUrl: database.url },
    };
    const caller = await startCaller(
      process.env['TEST_TEMPORAL_ADDRESS'] ?? assert.fail('run it by npm test'),
    );
    const first = await startLiveWorker(options);
    let second: LiveWorker | undefined;
    try {
      await caller.connect(endpoint, first.taskQueue);
      const handle = await caller.start(endpoint, 'poke {"note":"lasting"}\nthen\nLasted.', 'last');
      const approval = await first.approvalOf('last');
      await first.shutDown();
      second = await startLiveWorker(options);
      await second.temporal.decide(approval, { decision: 'approve' });
      assert.equal((await handle.result()).text, 'Lasted.');
      assert.equal((await second.turns('last')).length, 1);
    } finally {
      await caller.stop();
      await second?.close();
      await first.close();
      await database.drop();
    }
  });
});
