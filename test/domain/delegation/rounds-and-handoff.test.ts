/** DE-4 and DE-5: rounds of producing and judging, and conversations that are handed over. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EVALUATE_WORDS, roundsOf } from '#domain/assignment/evaluate-loop.ts';
import { HANDOFF_WORDS, handoffLoop } from '#domain/assignment/handoff.ts';
import { VECTORS } from './vectors.ts';

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

describe('DE-5 handoffs', () => {
  for (const { path, from, to, refused } of VECTORS.handoffs)
    test(`${[...path, from].join(' → ')} → ${to} is ${refused ? 'refused' : 'fine'}`, () => {
      assert.equal(handoffLoop(path, from, to) !== undefined, refused);
    });

  test('the first message says from whom and why, and has the conversation only when it was given', () => {
    assert.match(
      HANDOFF_WORDS.first('a', 'billing', undefined),
      /^\[Handoff from a\]\nReason: billing\n\nPlease/,
    );
    assert.match(HANDOFF_WORDS.first('a', 'billing', 'hi'), /Conversation so far:\nhi/);
  });
});
