/** SECURITY R1: words from outside that come to a session by other sessions and other agents (laundering/sessions.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('sessions');
