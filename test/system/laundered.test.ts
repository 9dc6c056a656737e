/**
 * R1: external text that reaches a session by a detour: each detour without rules, and under each set of rules. A run
 * takes each detour once, under rules that differ from run to run; TEST_SHARE=100 takes it under all.
 */
import { launderingTests } from '#test/build/laundering/tests.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

const RULES = ['free', 'careful', 'after'] as const;
const isWhole = process.env['TEST_SHARE'] === '100';

const chance = createChance(seedOfRun());
console.log(`seed ${chance.seed} (TEST_SEED repeats it)`);
const first = chance.between(0, RULES.length - 1);

await launderingTests((at) => RULES.filter((_, turn) => isWhole || (at + first) % RULES.length === turn));
