/** R1: external text that reaches a session by a detour: each detour without rules, and under each set of rules. */
import { launderingTests } from '#test/build/laundering/tests.ts';

await launderingTests(() => ['free', 'careful', 'after']);
