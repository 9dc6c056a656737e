/**
 * R1: what a browser shows of a page reaches a model, whatever styles, sheets and elements say. Each case is read in one
 * of the readings, in turn; test/ui/page-sight.test.ts reads each in all.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { READINGS, sightCases, sightProblems } from './sight-cases.ts';

test('R1 a page is read as a browser shows it', async () => {
  const wrong: string[] = [];
  for (const [at, one] of sightCases().entries()) {
    // A style has three cases in a row. The turn moves on after each style, so that each kind of case meets each reading.
    const how = READINGS[(at + Math.floor(at / 3)) % 3] ?? assert.fail();
    wrong.push(...(await sightProblems(one, how)));
  }
  assert.deepEqual(wrong, []);
});
