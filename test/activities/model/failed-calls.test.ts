/** DU-7: what a failed model call has used is reported, except what was certainly not paid for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { generateWithFallback } from '#activities/model/fallback.ts';
import { createModels, type Models } from '#activities/model/model-catalog.ts';
import { type ModelAnswer, ModelError, type ModelErrorCode, type ModelRequest } from '#domain/model/model.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { requestOf, say } from './ask.ts';

const USAGE = { inputTokens: 40, outputTokens: 2, cachedInputTokens: 10 };
const PRICES = { 'p/m': { input: 1_000_000, output: 2_000_000, cachedInput: 500_000 } };

/** What is reported of one call that behaves like this. */
async function told(
  generate: (request: ModelRequest) => Promise<ModelAnswer>,
  request: Partial<ModelRequest> = {},
): Promise<readonly ModelUse[]> {
  const priced = createModels({ providers: {}, prices: PRICES });
  const models: Models = { ...priced, resolve: () => ({ model: 'm', provider: { name: 'p', generate } }) };
  const uses: ModelUse[] = [];
  const requested = requestOf([say('x'.repeat(392))], { tools: [], ...request });
  await generateWithFallback(models, ['p/m'], requested, { onFailed: (use) => uses.push(use) }).catch(
    () => undefined,
  );
  return uses;
}

const failing =
  (code: ModelErrorCode, text = '', usage?: typeof USAGE) =>
  async (request: ModelRequest): Promise<ModelAnswer> => {
    if (text !== '') request.onDelta(text);
    throw new ModelError(code, 'failed', usage ? { usage } : {});
  };

describe('DU-7 a model asked in vain', () => {
  it('tells nothing of an answer', async () => {
    const answer: ModelAnswer = { text: 'x', calls: [], usage: USAGE, finish: 'stop' };
    assert.deepEqual(await told(async () => answer), []);
  });

  it('tells nothing of what was refused before it was read', async () => {
    for (const code of ['RateLimited', 'Overloaded', 'Auth', 'BadRequest', 'Unreachable'] as const)
      assert.deepEqual(await told(failing(code)), [], code);
  });

  it('counts as the provider does, where that says so before it fails', async () => {
    const [use] = await told(failing('Filtered', '', USAGE));
    assert.deepEqual(use, { kind: 'failed', model: 'p/m', usage: USAGE, usd: 30 + 5 + 4 });
  });

  it('estimates what was read and written of an answer that broke off', async () => {
    for (const code of ['Unreachable', 'Overloaded'] as const) {
      const [use] = await told(failing(code, 'y'.repeat(40)), { system: '12345678' });
      assert.deepEqual(use?.usage, { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0 }, code);
    }
  });

  it('estimates what was read by a model that said nothing in time', async () => {
    const [use, ...more] = await told(failing('Timeout'), { system: '12345678' });
    assert.deepEqual([use?.usage.inputTokens, use?.usage.outputTokens, more], [100, 0, []]);
  });

  it('counts a call that was stopped after it had begun to write, and hands the text on', async () => {
    let seen = '';
    const [use] = await told(
      async (request) => {
        request.onDelta('12345678');
        throw new Error('stopped');
      },
      { onDelta: (text) => (seen += text) },
    );
    assert.deepEqual([use?.usage.outputTokens, seen], [2, '12345678']);
    const stopped = await told(async () => {
      throw new Error('stopped');
    });
    assert.deepEqual(stopped, []);
  });
});
