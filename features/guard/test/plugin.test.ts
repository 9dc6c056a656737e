/** The plugin in a worker of workflows that know nothing of TempoClaw: judged, asked about, killed, recorded. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { createLossyProxy } from '#test/support/lossy-proxy.ts';
import { type Stack, startStack } from '#test/support/stack.ts';
import { openShop, type Shop } from './shop.ts';

const RULES = [
  { tool: 'refund', args: { order: 'no*' }, decision: 'deny', reason: 'orders with no are never refunded' },
  { tool: 'refund', args: { order: 'ask*' }, decision: 'ask' },
];
const SECRET = 'sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6';

describe('workflows with TempoClawPlugin', { timeout: 300_000 }, () => {
  let stack: Stack;
  let shop: Shop;
  before(async () => {
    stack = await startStack();
    const body = { key: 'shop', model: 'rehearsal/follow', tools: { rules: RULES } };
    assert.equal((await stack.ask('POST', '/v1/agents', { body })).status, 201);
    const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? assert.fail('run it by npm test');
    shop = await openShop(address, { url: stack.url, key: await stack.makeKey(['run']) });
    await shop.startWorker();
  });
  after(async () => {
    await shop?.stop();
    await stack.stop();
  });

  const callOf = async ({ workflowId }: { readonly workflowId: string }) => {
    const { body } = await stack.ask('GET', `/v1/guarded-calls?workflow_id=${workflowId}`);
    return body.data[0];
  };
  const waitingCall = (workflow: { readonly workflowId: string }) =>
    stack.worker.until('a call that waits', async () => {
      const call = await callOf(workflow);
      return call?.decision === 'waiting' ? call : undefined;
    });
  const decide = async (workflow: WorkflowHandle, decision: object) => {
    const { approval_id } = await waitingCall(workflow);
    const sent = await stack.ask('POST', `/v1/approvals/${approval_id}/decision`, { body: decision });
    assert.equal(sent.status, 200, JSON.stringify(sent.body));
  };
  const held = (order: string) =>
    stack.worker.until('the effect to be at its place', async () =>
      (await shop.effects(`held ${order}`)).length > 0 ? true : undefined,
    );
  const failureOf = async (result: Promise<unknown>): Promise<ApplicationFailure> => {
    const error = await result.then(
      () => assert.fail('the workflow has not failed'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof WorkflowFailedError);
    const { cause } = error;
    const failure = cause instanceof ApplicationFailure ? cause : (cause as ActivityFailure).cause;
    assert.ok(failure instanceof ApplicationFailure);
    return failure;
  };

  it('PO-3 an allowed activity runs, and its end is recorded without secrets', async () => {
    const workflow = await shop.start('refundOrder', 'a1', 5);
    const result = await workflow.result();
    assert.match(String(result), /^refunded 5 with /);
    assert.ok(!String(result).includes(SECRET));
    const call = await callOf(workflow);
    assert.deepEqual([call.decision, call.outcome, call.tool], ['allowed', 'ok', 'refund']);
    assert.deepEqual(call.args, { order: 'a1', euros: 5 });
    const history = JSON.stringify((await workflow.fetchHistory()).events?.map((event) => event));
    assert.ok(!history.includes(Buffer.from(SECRET).toString('base64').slice(4, 40)));
  });

  it('EX-4 a denied activity fails with words that a model can read, and does not run', async () => {
    const workflow = await shop.start('refundOrder', 'no-1', 5);
    const failure = await failureOf(workflow.result());
    assert.equal(failure.type, 'Denied');
    assert.equal(failure.message, 'Denied: refund did not run: orders with no are never refunded');
    assert.deepEqual(await shop.effects('refund no-1'), []);
    assert.equal((await callOf(workflow)).outcome, 'not_run');
  });

  it('AP-1 an activity waits for a person through a kill of its worker', async () => {
    const workflow = await shop.start('refundOrder', 'ask-1', 5);
    await waitingCall(workflow);
    await shop.killWorker();
    await decide(workflow, { decision: 'approve' });
    await shop.startWorker();
    assert.match(String(await workflow.result()), /^refunded 5/);
    assert.deepEqual(await shop.effects('refund ask-1'), ['refund ask-1 5']);
    assert.equal((await callOf(workflow)).outcome, 'ok');
  });

  it('AP-3 a person changes the arguments, answers in its place, or rejects', async () => {
    const changed = await shop.start('refundOrder', 'ask-2', 5);
    await decide(changed, { decision: 'edit', args: { order: 'ask-2', euros: 3 } });
    assert.match(String(await changed.result()), /^refunded 3/);
    const answered = await shop.start('refundOrder', 'ask-3', 5);
    await decide(answered, { decision: 'respond', text: 'refunded by phone' });
    assert.equal(await answered.result(), 'refunded by phone');
    const rejected = await shop.start('refundOrder', 'ask-4', 5);
    await decide(rejected, { decision: 'reject', reason: 'too late' });
    const failure = await failureOf(rejected.result());
    assert.match(failure.message, /denied the call: too late/);
    assert.deepEqual(await shop.effects('refund ask-'), ['refund ask-1 5', 'refund ask-2 3']);
  });

  it('AP-1 a workflow that is cancelled withdraws its question', async () => {
    const workflow = await shop.start('refundOrder', 'ask-5', 5);
    const { approval_id } = await waitingCall(workflow);
    await workflow.cancel();
    await assert.rejects(workflow.result(), WorkflowFailedError);
    await stack.worker.until('the question to be withdrawn', async () => {
      const { body } = await stack.ask('GET', `/v1/approvals/${approval_id}`);
      return body.status === 'withdrawn' ? true : undefined;
    });
    assert.equal((await callOf(workflow)).outcome, 'not_run');
  });

  for (const side of ['before', 'after'] as const)
    it(`DU-2 a call that never runs twice is unknown when its worker is killed ${side} its effect`, async () => {
      const order = `hold-${side}`;
      const workflow = await shop.start('refundOrder', order, 5);
      await held(order);
      await shop.killWorker();
      await shop.note(`release ${order}`);
      await shop.startWorker();
      const failure = await failureOf(workflow.result());
      assert.equal(failure.type, 'OutcomeUnknown');
      assert.equal((await shop.effects(`refund ${order}`)).length, side === 'after' ? 1 : 0);
      assert.equal((await callOf(workflow)).outcome, 'unknown');
    });

  it('DU-1 a call is asked about, run and recorded once when replies of the API are lost', async () => {
    const proxy = await createLossyProxy(Number(new URL(stack.url).port));
    await shop.killWorker();
    await shop.startWorker({ url: `http://127.0.0.1:${proxy.port}` });
    try {
      proxy.lose(2);
      const waits = await shop.start('refundOrder', 'ask-lost', 5);
      await decide(waits, { decision: 'approve' });
      assert.match(String(await waits.result()), /^refunded 5/);
      const runs = await shop.start('refundOrder', 'hold-after-lost', 5);
      await held('hold-after-lost');
      proxy.lose(2);
      await shop.note('release hold-after-lost');
      assert.match(String(await runs.result()), /^refunded 5/);
      for (const workflow of [waits, runs]) assert.equal((await callOf(workflow)).outcome, 'ok');
      assert.equal((await shop.effects('refund ask-lost')).length, 1);
      assert.equal((await shop.effects('refund hold-after-lost')).length, 1);
      assert.equal(proxy.lost(), 4);
    } finally {
      await shop.killWorker();
      await proxy.close();
      await shop.startWorker();
    }
  });

  it('DU-2 a call that only reads runs again after a kill', async () => {
    const workflow = await shop.start('searchOrders', 'hold-after-search');
    await held('hold-after-search');
    await shop.killWorker();
    await shop.note('release hold-after-search');
    await shop.startWorker();
    assert.equal(await workflow.result(), 'found hold-after-search');
    const call = await callOf(workflow);
    assert.deepEqual([call.outcome, call.args], ['ok', { text: 'hold-after-search' }]);
  });

  it('a result that is no storable text is recorded as well as it can be', async () => {
    const workflow = await shop.start('searchOrders', 'bytes');
    await workflow.result();
    const call = await callOf(workflow);
    assert.deepEqual([call.outcome, call.text], ['ok', 'found \uFFFD and \uFFFD']);
  });

  it('a failure of the activity is recorded as one, without secrets', async () => {
    const workflow = await shop.start('refundOrder', 'fails-1', 5);
    const failure = await failureOf(workflow.result());
    assert.match(failure.message, /^the bank is closed/);
    assert.ok(!failure.message.includes(SECRET));
    const call = await callOf(workflow);
    assert.equal(call.outcome, 'failed');
    assert.match(call.text, /^the bank is closed/);
  });

  it('a local activity of a guarded type is refused', async () => {
    const failure = await failureOf(shop.run('refundLocally', 'local-1'));
    assert.equal(failure.type, 'GuardRefused');
    assert.deepEqual(await shop.effects('refund local-1'), []);
  });

  it('a wrong key fails the call with words that say so', async () => {
    await shop.killWorker();
    await shop.startWorker({ key: `tc_${'x'.repeat(43)}` });
    const failure = await failureOf(shop.run('refundOrder', 'wrong-key', 5));
    assert.equal(failure.type, 'GuardRefused');
    assert.match(failure.message, /TempoClaw answers 401/);
    await shop.killWorker();
    await shop.startWorker();
  });

  it('PO-3 an activity that nobody judged is refused', async () => {
    await shop.killWorker();
    await shop.startWorker({ isGuarded: false });
    const workflow = await shop.start('refundOrder', 'hold-after-old', 5);
    await held('hold-after-old');
    await shop.killWorker();
    await shop.startWorker();
    const failure = await failureOf(workflow.result());
    assert.equal(failure.type, 'GuardRefused');
    assert.match(failure.message, /its workflow has no guard/);
  });

  it('a run that called an activity before the plugin came goes on as it was, and the next run is guarded', async () => {
    await shop.killWorker();
    await shop.startWorker({ isGuarded: false });
    const workflow = await shop.start('refundTwice', 'no-old', 5);
    await stack.worker.until('the first refund', async () => {
      const { events } = await workflow.fetchHistory();
      return events?.some((event) => event.activityTaskCompletedEventAttributes) ? true : undefined;
    });
    await shop.killWorker();
    await shop.startWorker();
    await workflow.signal('again');
    await workflow.result();
    assert.equal((await shop.effects('refund no-old')).length, 2);
    assert.equal((await failureOf(shop.run('refundOrder', 'no-new', 5))).type, 'Denied');
  });
});
