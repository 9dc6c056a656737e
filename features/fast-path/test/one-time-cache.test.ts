/** What one activity leaves for the next within a worker: it is returned once, and only while it is fresh. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOneTimeCache } from '../activities/one-time-cache.ts';

const step = { position: 3 };

describe('a shelf within a worker', () => {
  test('is given once, so that a second attempt asks the ledger', () => {
    const steps = createOneTimeCache<typeof step>(() => 0);
    steps.put('t/turn_1/2', step, 0);
    assert.equal(steps.take('t/turn_1/2')?.item, step);
    assert.equal(steps.take('t/turn_1/2'), undefined);
  });

  test('is void a second after its rules were read, so that a changed rule holds', () => {
    let now = 0;
    const steps = createOneTimeCache<typeof step>(() => now);
    steps.put('k', step, 0);
    now = 1_000;
    assert.equal(steps.take('k'), undefined);
  });

  test('keeps at most a thousand, the youngest ones', () => {
    const steps = createOneTimeCache<typeof step>(() => 0);
    for (let index = 0; index < 1_200; index += 1) steps.put(String(index), step, 0);
    assert.equal(steps.take('0'), undefined);
    assert.equal(steps.take('199'), undefined);
    assert.equal(steps.take('200')?.item, step);
    assert.equal(steps.take('1199')?.item, step);
  });

  test('drops what is old without being asked for it', () => {
    let now = 0;
    const steps = createOneTimeCache<typeof step>(() => now);
    steps.put('old', step, 0);
    now = 5_000;
    steps.put('new', step, 5_000);
    now = 0;
    assert.equal(steps.take('old'), undefined);
  });
});
