/**
 * R1: external text that reaches a session by a detour: each detour without rules, and under each set of rules. A run
 * takes a share of the detours, chosen anew; TEST_SHARE=100 takes all.
 */
import { launderingTests } from '#test/build/laundering/tests.ts';
import { createChance, seedOfRun } from '#test/support/seeded.ts';

/** Percent of the detours. */
const SHARE = Number(process.env['TEST_SHARE'] ?? 25);

const chance = createChance(seedOfRun());
console.log(`seed ${chance.seed} (TEST_SEED repeats it)`);

await launderingTests(() => (chance.between(1, 100) <= SHARE ? ['free', 'careful', 'after'] : []));
