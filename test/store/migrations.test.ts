/**
 * DU-5: migrations run in the order of their numbers, so that two with one number would run in the order of their
 * names.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';

test('every migration has a number of its own', () => {
  const names = readdirSync(new URL('../../store/migrations', import.meta.url));
  const numbers = names.map((name) => name.slice(0, 5)).sort();
  assert.ok(numbers.every((number) => /^\d{4}_$/.test(number)));
  assert.deepEqual(numbers, [...new Set(numbers)]);
});
