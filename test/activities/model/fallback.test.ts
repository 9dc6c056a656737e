import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Fallback, generateWithFallback } from '#activities/model/fallback.ts';
import type { Models } from '#activities/model/model-catalog.ts';
import { type ModelAnswer, ModelError, type ModelErrorCode, type ModelRequest } from '#domain/model/model.ts';
import { requestOf, say } from './ask.ts';

const ANSWER: ModelAnswer = {
  text: 'here',
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 },
  finish: 'stop',
};

type Behaviour = (request: ModelRequest) => Promise<ModelAnswer>;

function fails(code: ModelErrorCode, retryAfterMs?: number, text = ''): Behaviour {
  return async (request) => {
    if (text) request.onDelta(text);
    throw new ModelError(code, `failed with ${code}`, retryAfterMs === undefined ? {} : { retryAfterMs });
  };
}

/** Models by reference `p/name`; `asked` lists those that were called. */
function modelsOf(
  behaviours: Readonly<Record<string, Behaviour>>,
): Pick<Models, 'resolve' | 'cost' | 'seesImages'> & { asked: string[] } {
  const requests: string[] = [];
  return {
    asked: requests,
    cost: () => undefined,
    seesImages: (ref) => ref === 'p/sees',
    resolve(ref) {
      const generate = behaviours[ref];
      if (!generate) throw new ModelError('UnknownModel', `${ref} is unknown`);
      return {
        model: ref,
        provider: {
          name: 'p',
          generate(request) {
            requests.push(request.model);
            return generate(request);
          },
        },
      };
    },
  };
}

const answers: Behaviour = async () => ANSWER;

describe('MO-1 the fallback chain', () => {
  test('stays with the first model that answers, and says which it was', async () => {
    const models = modelsOf({ 'p/a': answers, 'p/b': answers });
    assert.deepEqual(await generateWithFallback(models, ['p/a', 'p/b'], requestOf([say('hi')])), {
      answer: ANSWER,
      ref: 'p/a',
    });
    assert.deepEqual(models.asked, ['p/a']);
  });

  for (const code of [
    'RateLimited',
    'Overloaded',
    'Unreachable',
    'Timeout',
    'BadAnswer',
    'Auth',
    'UnknownModel',
  ] as const) {
    test(`moves on after ${code}`, async () => {
      const models = modelsOf({ 'p/a': fails(code), 'p/b': answers });
      const { ref } = await generateWithFallback(models, ['p/a', 'p/b'], requestOf([say('hi')]));
      assert.equal(ref, 'p/b');
    });
  }

  for (const code of ['BadRequest', 'Filtered', 'ContextOverflow'] as const) {
    test(`does not move on after ${code}`, async () => {
      const models = modelsOf({ 'p/a': fails(code), 'p/b': answers });
      await assert.rejects(generateWithFallback(models, ['p/a', 'p/b'], requestOf([say('hi')])), { code });
      assert.deepEqual(models.asked, ['p/a']);
    });
  }

  test('moves on from a provider that is not configured', async () => {
    const models = modelsOf({ 'p/b': answers });
    assert.equal((await generateWithFallback(models, ['gone/x', 'p/b'], requestOf([say('hi')]))).ref, 'p/b');
  });

  test('tells each step, and whether text had been shown that must be taken back', async () => {
    const messages: Fallback[] = [];
    const deltas: string[] = [];
    const models = modelsOf({
      'p/a': fails('Overloaded'),
      'p/b': fails('Unreachable', undefined, 'Half'),
      'p/c': answers,
    });
    const request = requestOf([say('hi')], { onDelta: (text) => deltas.push(text) });
    await generateWithFallback(models, ['p/a', 'p/b', 'p/c'], request, {
      onFallback: (step) => messages.push(step),
    });
    assert.deepEqual(
      messages.map(({ from, to, emitted, error }) => [from, to, emitted, error.code]),
      [
        ['p/a', 'p/b', false, 'Overloaded'],
        ['p/b', 'p/c', true, 'Unreachable'],
      ],
    );
    assert.deepEqual(deltas, ['Half']);
  });

  test('when all fail the error may be retried if any may, after the shortest wait asked for', async () => {
    const models = modelsOf({
      'p/a': fails('Auth'),
      'p/b': fails('RateLimited', 9000),
      'p/c': fails('Overloaded', 2000),
    });
    await assert.rejects(
      generateWithFallback(models, ['p/a', 'p/b', 'p/c'], requestOf([say('hi')])),
      (error) => {
        assert.ok(error instanceof ModelError);
        assert.deepEqual([error.code, error.retryable, error.retryAfterMs], ['RateLimited', true, 2000]);
        for (const ref of ['p/a', 'p/b', 'p/c']) assert.ok(error.message.includes(ref), ref);
        return true;
      },
    );
  });

  test('when none may be retried neither may the whole', async () => {
    const models = modelsOf({ 'p/a': fails('Auth') });
    await assert.rejects(generateWithFallback(models, ['p/a', 'gone/x'], requestOf([say('hi')])), {
      code: 'Auth',
      retryable: false,
    });
  });

  test('a stop ends the chain with its own reason', async () => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    const models = modelsOf({
      'p/a': async () => {
        stop.abort(reason);
        throw new ModelError('Unreachable', 'cut');
      },
      'p/b': answers,
    });
    const request = requestOf([say('hi')], { signal: stop.signal });
    await assert.rejects(generateWithFallback(models, ['p/a', 'p/b'], request), (error) => error === reason);
    assert.deepEqual(models.asked, ['p/a']);
  });

  test('an error of our own is not taken for a model’s', async () => {
    const bug = new TypeError('x is not a function');
    const models = modelsOf({
      'p/a': async () => {
        throw bug;
      },
      'p/b': answers,
    });
    await assert.rejects(
      generateWithFallback(models, ['p/a', 'p/b'], requestOf([say('hi')])),
      (error) => error === bug,
    );
  });

  test('a chain of none names the setting', async () => {
    await assert.rejects(generateWithFallback(modelsOf({}), [], requestOf([say('hi')])), {
      code: 'UnknownModel',
      message: /models\.default/,
    });
  });
});
