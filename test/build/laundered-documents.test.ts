/** SECURITY R1: words from outside that come to a session by documents and memory (laundering/documents.yaml). */
import { launderingTests } from './laundering/tests.ts';

await launderingTests('documents');
