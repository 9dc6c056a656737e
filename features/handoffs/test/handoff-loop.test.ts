/** DE-5: conversations that are handed over. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HANDOFF_WORDS, handoffLoop } from '../contract.ts';
import { VECTORS } from '#test/domain/delegation/vectors.ts';

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
