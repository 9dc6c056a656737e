/** R1: external text that reaches a session through documents and memory (laundering/documents.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('documents');
