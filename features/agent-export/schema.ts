/**
 * An agent as a file, to be moved elsewhere or stored (DU-8). One line of JSON describes the agent, and one each of its
 * documents and skills.
 */
import { z } from 'zod';
import { DOCUMENT_LIMITS, isDocumentPath } from '#domain/files/document.ts';
import { isStorable } from '#domain/outside-value.ts';
import { agentConfigSchema } from '#domain/schema/agent.ts';
import { labelSchema } from '#domain/schema/scalars.ts';
import { skillNameSchema, skillPublishSchema } from '#features/skills/schema.ts';

export const EXPORT_TYPE = 'application/x-ndjson';
/** Bytes of a whole file; API and caller hold it in memory. */
export const EXPORT_BYTES = 64 * 1024 * 1024;
export const EXPORT_USERS = 100;
/** More lines than there can be documents and skills together. */
export const EXPORT_LINES = 250_000;

/** The first line is the agent, the last the end; the lines between come in any order. */
export const exportLineSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent'), version: z.literal(1), agent: agentConfigSchema }),
  z.strictObject({
    kind: z.literal('document'),
    user: labelSchema.nullable(),
    path: z.string().max(DOCUMENT_LIMITS.path).refine(isDocumentPath, 'is no context file and no memory'),
    outside: z.boolean(),
    text: z.string().max(DOCUMENT_LIMITS.bytes).refine(isStorable, 'must be Unicode text without NUL'),
  }),
  skillPublishSchema.extend({
    kind: z.literal('skill'),
    name: skillNameSchema,
    owned: z.boolean(),
    agreed: z.boolean(),
  }),
  /** SHA-256 of all lines before it, in hexadecimal. */
  z.strictObject({ kind: z.literal('end'), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
]);

export type ExportLine = z.output<typeof exportLineSchema>;

export const importedSchema = z.object({
  key: z.string(),
  agent: z.enum(['made', 'replaced', 'unchanged']),
  documents: z.int().describe('Written; those that were there as they are in the file do not count'),
  skills: z.int().describe('Published'),
});

export type Imported = z.output<typeof importedSchema>;
