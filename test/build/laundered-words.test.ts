/** SECURITY R1: words from outside that come to a session by times to come, strangers, skills and servers (laundering/words.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('words');
