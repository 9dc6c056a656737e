/** R1: external text that reaches a session through other sessions and other agents (laundering/sessions.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('sessions');
