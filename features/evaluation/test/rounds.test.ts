/** DE-4: rounds of producing and judging. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { VECTORS } from '#test/domain/delegation/vectors.ts';
import { EVALUATE_WORDS, roundsOf } from '../contract.ts';

describe('DE-4 rounds', () => {
  for (const { asked, rounds } of VECTORS.rounds)
    test(`max_rounds ${asked} is ${rounds}`, () => {
      assert.equal(roundsOf(asked ?? undefined), rounds);
    });

  test('a revision says its round and brings feedback and draft; the end says how many and whether it passed', () => {
    const prompt = EVALUATE_WORDS.revise('t', 2, 3, 'x', 'draft one');
    assert.match(prompt, /^\[Revision — Round 2\/3\]/);
    assert.match(prompt, /draft one\n\nEvaluator feedback: x/);
    assert.match(EVALUATE_WORDS.approved(2, 'd'), /^Evaluate-optimize loop completed in 2 round\(s\)\./);
    const spent = EVALUATE_WORDS.exhausted(3, 'no', 'last');
    assert.match(spent, /reached max rounds \(3\) without evaluator approval/);
    assert.match(spent, /Last feedback: no\n\nLast output:\nlast$/);
    assert.equal(EVALUATE_WORDS.failed('generator', 'g', 1, 'w'), 'generator "g" failed in round 1: w');
  });
});
