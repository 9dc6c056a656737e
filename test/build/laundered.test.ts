/**
 * R1: external text that reaches a session by a detour: one detour of four, each under one set of rules, in turn.
 * test/system/laundered.test.ts takes each under all.
 */
import { launderingTests } from './laundering/tests.ts';

const IN_TURN = ['careful', 'after', 'free'] as const;

await launderingTests((at) =>
  at % 4 === 0 ? IN_TURN.filter((_, turn) => (at / 4) % IN_TURN.length === turn) : [],
);
