/**
 * MO-1 with a real model behind a real socket, for what scripts cannot show. It is opt-in, because it installs a model:
 * TEST_REAL_MODEL=1.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RealModel, startRealModel } from '#test/support/real-model.ts';
import { type Stack, startStack } from '#test/support/stack.ts';

const skip = process.env['TEST_REAL_MODEL'] === '1' ? false : 'TEST_REAL_MODEL is not 1';

describe('MO-1 a real model', { skip, timeout: 1_800_000 }, () => {
  let model: RealModel;
  let stack: Stack;
  before(async () => {
    model = await startRealModel();
    stack = await startStack({
      settings: `
models:
  firstByteTimeoutSeconds: 300
  providers:
    small: { type: openai-compatible, baseUrl: '${model.url}' }
  prices: { small/smollm2: { input: 1, output: 2 } }
`,
      agents: [
        {
          key: 'small',
          model: 'small/smollm2',
          tools: { allow: [] },
          limits: { output_tokens: 400 },
        },
      ],
    });
  });
  after(async () => {
    await stack?.stop();
    await model?.close();
  });

  const deltas = async (session: string): Promise<readonly string[]> =>
    (await stack.worker.events(session))
      .filter(({ type }) => type === 'message.delta')
      .map(({ data }) => String(data['text']));
  const usage = async (session: string) =>
    (await stack.ask('GET', `/v1/usage?by=model,kind&session=${session}`)).body.data;

  it('streams its answer, and its tokens and money are counted', async () => {
    const { turn_id } = await stack.worker.say('hello', 'What is the capital of France?', { agent: 'small' });
    const turn = await stack.worker.ended(turn_id);
    const pieces = await deltas('hello');
    console.log('answer:', turn.text, '| pieces:', pieces.length, '| usage:', await usage('hello'));
    assert.equal(turn.status, 'completed');
    assert.match(turn.text ?? '', /Paris/);
    assert.ok(pieces.length > 1, 'it came in pieces');
    // The last piece comes with the whole.
    assert.ok(turn.text?.startsWith(pieces.join('')), pieces.join(''));
    const [row] = await usage('hello');
    assert.deepEqual([row.model, row.kind, row.calls], ['small/smollm2', 'answer', 1]);
    assert.ok(row.input_tokens > 20 && row.output_tokens > 1, JSON.stringify(row));
  });

  it('is stopped in the middle: the server makes no more, and what was made is counted', async () => {
    const { turn_id } = await stack.worker.say('stopped', 'Tell me a long story about a lighthouse.', {
      agent: 'small',
    });
    while ((await deltas('stopped')).length === 0) await sleep(100);
    const stop = await stack.ask('POST', '/v1/sessions/stopped/stop', { body: { level: 'now', turn_id } });
    assert.equal(stop.status, 202);
    const turn = await stack.worker.ended(turn_id);
    for (let tries = 0; model.lines.length === 0 && tries < 600; tries++) await sleep(100);
    console.log('stopped:', model.lines, '| usage:', await usage('stopped'));
    assert.equal(turn.status, 'stopped');
    assert.match(model.lines[0] ?? '', /^stopped after \d+ tokens$/);
    const [row] = await usage('stopped');
    assert.equal(row.kind, 'failed');
    assert.ok(row.output_tokens > 0, JSON.stringify(row));
  });

  it('answers the next message of the session', async () => {
    const { turn_id } = await stack.worker.say('stopped', 'Say hello.', { agent: 'small' });
    const turn = await stack.worker.ended(turn_id);
    assert.equal(turn.status, 'completed');
    assert.notEqual(turn.text, '');
  });
});
