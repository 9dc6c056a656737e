/** SECURITY R1: words from outside that come to a session by files of the workspace (laundering/files.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('files');
