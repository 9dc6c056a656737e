/** R1: external text that reaches a session through files of the workspace (laundering/files.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('files');
