import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';

describe('a concurrency limit', () => {
  test('lets so many in at once under a name, in order, and tells who waited', async () => {
    const limit = createConcurrencyLimit(2);
    const leave: (() => void)[] = [];
    const seen: string[] = [];
    const come = (who: string, name = 'a'): Promise<string> =>
      limit.pass(name, async (waited) => {
        seen.push(`${who}${waited ? ' waited' : ''}`);
        await new Promise<void>((resolve) => leave.push(resolve));
        return who;
      });
    const all = [come('1'), come('2'), come('3'), come('4'), come('other', 'b')];
    assert.deepEqual(seen, ['1', '2', 'other']);
    leave[0]?.();
    await all[0];
    assert.deepEqual(seen.slice(3), ['3 waited']);
    for (let n = 1; n < 5; n += 1) {
      leave[n]?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(await Promise.all(all), ['1', '2', '3', '4', 'other']);
  });

  test('goes on after work that fails', async () => {
    const limit = createConcurrencyLimit(1);
    const failed = limit.pass('a', () => Promise.reject(new Error('no')));
    const next = limit.pass('a', (waited) => Promise.resolve(waited));
    await assert.rejects(failed, /no/);
    assert.equal(await next, true);
    assert.equal(await limit.pass('a', (waited) => Promise.resolve(waited)), false);
  });
});
