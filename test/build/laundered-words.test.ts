/**
 * R1: external text that reaches a session through schedules, strangers, skills and servers (laundering/words.yaml).
 */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('words');
