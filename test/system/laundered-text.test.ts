/** R1: external text that reaches a session by each document and file, and the same text from a clean session. */
import { after, before, describe } from 'node:test';
import { type JudgedTurns, startJudgedTurns } from '#test/support/judged-turns.ts';
import { carrierTests } from '#test/build/laundering/carriers.ts';

describe('R1 words from outside by each document and file', () => {
  let turns: JudgedTurns;
  before(async () => {
    turns = await startJudgedTurns();
  });
  after(() => turns?.stack.stop());

  carrierTests(
    () => turns,
    () => true,
  );
});
