/**
 * R1: external text that reaches a session by a detour: each detour under one set of rules, in turn.
 * test/system/laundered.test.ts takes each under all.
 */
import { launderingTests } from './laundering/tests.ts';

const IN_TURN = ['careful', 'after', 'free'] as const;

await launderingTests((at) => IN_TURN.filter((_, turn) => at % IN_TURN.length === turn));
