import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createPayloadCodec } from '#temporal/payload-codec.ts';
import { codecToken } from '#api/routes/codec.ts';
import { historyText } from '#test/support/histories.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const key = randomBytes(32).toString('base64');

describe('SECURITY B2 with an encryption key', () => {
  let stack: Stack;
  before(async () => {
    stack = await startStack({
      codec: { codec: createPayloadCodec([key]), token: codecToken(key) },
      env: { TEMPOCLAW_ENCRYPTION_KEY: key },
    });
  });
  after(() => stack.stop());

  test('a turn runs, Temporal holds no word of it, and the codec endpoint reads it for the web UI', async () => {
    const sent = await stack.ask('POST', '/v1/sessions/hidden/messages?wait=30', {
      body: { text: 'unusualword' },
    });
    assert.equal(sent.status, 200);
    const run = stack.worker.client.workflow.getHandle(sent.body.workflow_id);
    // The reply does not wait for the end of the run.
    await run.result();
    const history = await run.fetchHistory();
    assert.doesNotMatch(await historyText(stack.worker.client, sent.body.workflow_id), /unusualword/);
    const raw =
      history.events?.flatMap(
        (event) => event.workflowExecutionCompletedEventAttributes?.result?.payloads ?? [],
      ) ?? [];
    assert.ok(raw.length > 0);
    const payloads = raw.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
      ),
      data: base64(data ?? new Uint8Array()),
    }));
    assert.ok(!Buffer.from(payloads[0]?.data ?? '', 'base64').includes('unusualword'));

    const { body } = await stack.ask('GET', '/v1/codec');
    const path = new URL(body.endpoint).pathname;
    const decoded = await stack.ask('POST', `${path}/decode`, { key: null, body: { payloads } });
    assert.equal(decoded.status, 200);
    assert.match(Buffer.from(decoded.body.payloads[0].data, 'base64').toString(), /unusualword/);
    const again = await stack.ask('POST', `${path}/encode`, { key: null, body: decoded.body });
    assert.ok(!Buffer.from(again.body.payloads[0].data, 'base64').includes('unusualword'));
  });

  test('without the right address nothing is decoded, and only administrators learn it', async () => {
    const wrong = await stack.ask('POST', '/codec/guessed/decode', { key: null, body: { payloads: [] } });
    assert.equal(wrong.status, 404);
    const reader = await stack.makeKey(['read']);
    assert.equal((await stack.ask('GET', '/v1/codec', { key: reader })).status, 403);
  });
});

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
