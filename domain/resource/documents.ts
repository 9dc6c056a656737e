/**
 * Context files and memory of agents and their users (VF-1, VF-2), with their versions. Commands:
 * cli/commands/files.ts.
 */
import { z } from 'zod';
import { DOCUMENT_LIMITS, isDocumentPath } from '../document.ts';
import { isStorable } from '../outside-value.ts';
import { labelSchema, nameSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

const itemSchema = z.object({
  path: z.string().meta({ examples: ['SOUL.md', 'memory/plans.md'] }),
  user: z.string().nullable().describe('Null: the agent’s own, which a user sees until he has his'),
  revision: z.int(),
  bytes: z.int(),
  outside: z.boolean().describe('Written by a session that had read what came from outside'),
  updated_at: timeSchema,
});

const wholeSchema = itemSchema.extend({ text: z.string() });

export const versionSchema = z.object({
  revision: z.int(),
  bytes: z.int().nullable().describe('Null: it was removed'),
  author: z.string().meta({ examples: ['ann', 'key:ops', 'agent:main'] }),
  written_in: z
    .object({ session: z.string(), turn: z.string(), user: z.string().nullable() })
    .nullable()
    .describe('The turn whose call wrote it; null: none, one that was forgotten, or another user’s'),
  outside: z.boolean(),
  created_at: timeSchema,
});

const path = '/v1/agents/:agent/files';
const revision = z.coerce.number().int().min(1).max(2_147_483_647);
const expected = z
  .int()
  .min(0)
  .optional()
  .describe('Refused with `Conflict` when the last write has another one; 0: when there is any');

const all = {
  path,
  params: z.object({ agent: nameSchema }),
  query: z.strictObject({
    user: labelSchema
      .optional()
      .describe('Whose; a user’s key means its own, another the agent’s own when absent'),
  }),
};

const one = {
  path: `${path}/:name`,
  params: all.params.extend({
    name: z
      .string()
      .max(DOCUMENT_LIMITS.path)
      .refine(isDocumentPath, 'must be SOUL.md or another context file, MEMORY.md, or a path below memory/')
      .meta({
        description: 'One below `memory/` with its slashes, or `%2F`',
        examples: ['SOUL.md', 'memory/plans.md'],
      }),
  }),
  query: all.query,
};

export const documents = defineResource(
  {
    path,
    tag: 'agents',
    item: itemSchema,
    key: 'agent',
    missing: 'There is no agent with this key, or no such file of it',
  },
  () => ({
    listFiles: operation({
      ...all,
      method: 'GET',
      scope: 'read',
      summary: 'List the context files and the memory of an agent, as a user sees them',
      answer: z.object({ data: z.array(itemSchema) }),
    }),
    listFilesOfUser: operation({
      method: 'GET',
      path: '/v1/users/:user/files',
      scope: 'read',
      summary: 'List the files that a user has of his own, over all agents',
      params: z.object({ user: labelSchema }),
      answer: z.object({ data: z.array(itemSchema.extend({ agent: z.string() })) }),
    }),
    getFile: operation({
      ...one,
      method: 'GET',
      scope: 'read',
      summary: 'Read a context file or a file of memory',
      answer: wholeSchema,
    }),
    putFile: operation({
      ...one,
      method: 'PUT',
      scope: 'run',
      summary: 'Write one',
      description:
        'The agent’s own need the scope `admin`; of a predefined agent a user writes `USER.md` and memory.',
      body: z.strictObject({
        text: z.string().max(DOCUMENT_LIMITS.bytes).refine(isStorable, 'must be Unicode text without NUL'),
        expected_revision: expected,
      }),
      // JSON may need six bytes for one.
      maxBytes: DOCUMENT_LIMITS.bytes * 6 + 1_000,
      answer: wholeSchema,
      refuses: ['NotFound', 'Conflict', 'TooLarge'],
    }),
    deleteFile: operation({
      ...one,
      method: 'DELETE',
      scope: 'run',
      summary: 'Remove one; a user sees the agent’s own again',
      answer: z.null(),
      status: 204,
      refuses: ['Conflict'],
    }),
    listFileVersions: operation({
      ...one,
      path: `${one.path}/versions`,
      method: 'GET',
      scope: 'read',
      summary: 'List what was written to one, by whom, the newest first',
      description: `The newest ${DOCUMENT_LIMITS.versions} are kept. Those of the agent’s own are listed without \`user\`.`,
      answer: z.object({ data: z.array(versionSchema) }),
    }),
    compareFile: operation({
      ...one,
      path: `${one.path}/compare`,
      query: one.query.extend({
        from: revision,
        to: revision.optional().describe('As it is now when absent'),
      }),
      method: 'GET',
      scope: 'read',
      summary: 'Compare two versions of one',
      answer: z.object({ diff: z.string().describe('Unified; empty when they are the same') }),
      refuses: ['Unprocessable'],
    }),
    restoreFile: operation({
      ...one,
      path: `${one.path}/restore`,
      method: 'POST',
      scope: 'run',
      summary: 'Write an earlier version again',
      body: z.strictObject({ revision: z.int().min(1), expected_revision: expected }),
      answer: wholeSchema,
      refuses: ['Conflict', 'Unprocessable'],
    }),
  }),
);
