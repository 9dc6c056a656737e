/** How long a server wants to be left alone, by its header. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfter } from '#domain/net/retry-after.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test('Retry-After is seconds or a date, and anything else says nothing', () => {
  for (const [value, expected] of [
    ['30', 30_000],
    [' 0.2 ', 200],
    ['0', 0],
    ['-5', 0],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['', undefined],
    ['soon', undefined],
    ['Infinity', undefined],
    [null, undefined],
    [undefined, undefined],
  ] as const)
    assert.equal(readRetryAfter(value, NOW), expected, String(value));
});
