import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { timeOf } from '#cli/commands/turns.ts';
import { durationWords } from '#cli/text.ts';
import { durationText } from '../../console/src/components/amounts.ts';

describe('IN-6 durations', () => {
  test('what took no time that the clock shows took less than a millisecond, and nothing took 1000 ms', () => {
    assert.deepEqual([0, 0.4, 0.6, 840, 999.7, 12_300].map(durationWords), [
      '< 1 ms',
      '< 1 ms',
      '1 ms',
      '840 ms',
      '1.0 s',
      '12.3 s',
    ]);
    assert.deepEqual([0, 0.6, 999.7].map(durationText), ['< 1 ms', '1 ms', '1.0 s']);
  });

  test('a call whose beginning nobody records, because it only reads, has no duration', () => {
    const at = '2026-01-01T10:00:00.000Z';
    assert.equal(timeOf({ started_at: at, ended_at: at }), '');
    assert.equal(timeOf({ started_at: at, ended_at: '2026-01-01T10:00:00.019Z' }), '19 ms');
    assert.equal(timeOf({ started_at: at, ended_at: null }), '');
  });
});
