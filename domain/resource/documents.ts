/**
 * Context files and memory of agents and their users (VF-1, VF-2), with their versions. Commands that read files:
 * cli/commands/files.ts.
 */
import { z } from 'zod';
import { DOCUMENT_LIMITS, isDocumentPath } from '../files/document.ts';
import { isStorable } from '../outside-value.ts';
import { labelSchema, nameSchema, timeSchema } from '../schema/scalars.ts';
import type { Flags } from './command.ts';
import { defineResource, operation } from './define-resource.ts';

export const documentSchema = z.object({
  path: z.string().meta({ examples: ['SOUL.md', 'memory/plans.md'] }),
  user: z.string().nullable().describe('Null: the agent’s own, which a user sees until he has his'),
  revision: z.int(),
  bytes: z.int(),
  outside: z.boolean().describe('Written by a session that had read what came from outside'),
  updated_at: timeSchema,
});

const wholeSchema = documentSchema.extend({ text: z.string() });

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

const user = { user: ['--user <user>', 'whose; the agent’s own when absent'] } as const satisfies Flags;
const expects = {
  expected_revision: ['--expected-revision <n>', 'only if the last write has it'],
} as const satisfies Flags;
const saysRevision = (row: z.output<typeof wholeSchema>): string =>
  `${row.path} has revision ${row.revision}`;

export const documents = defineResource(
  {
    path,
    tag: 'agents',
    item: documentSchema,
    key: 'agent',
    keySchema: nameSchema,
    missing: 'There is no agent with this key, or no such file of it',
  },
  () => ({
    listFiles: operation({
      ...all,
      method: 'GET',
      scope: 'read',
      summary: 'List the context files and the memory of an agent, as a user sees them',
      answer: z.object({ data: z.array(documentSchema) }),
      command: {
        word: 'list',
        help: 'what a user sees, or the agent has',
        flags: user,
        columns: {
          file: { flexible: 'path' },
          of: (row) => row.user ?? 'the agent',
          revision: 'revision',
          bytes: 'bytes',
          written: { ago: 'updated_at' },
        },
        nothing: 'No files.',
      },
    }),
    listFilesOfUser: operation({
      method: 'GET',
      path: '/v1/users/:user/files',
      scope: 'read',
      summary: 'List the files that a user has of his own, over all agents',
      params: z.object({ user: labelSchema }),
      answer: z.object({ data: z.array(documentSchema.extend({ agent: z.string() })) }),
      command: {
        word: 'of',
        help: 'what a user has of his own, over all agents',
        columns: {
          agent: 'agent',
          file: { flexible: 'path' },
          revision: 'revision',
          bytes: 'bytes',
          written: { ago: 'updated_at' },
        },
        nothing: 'No files.',
      },
    }),
    getFile: operation({
      ...one,
      method: 'GET',
      scope: 'read',
      summary: 'Read a context file or a file of memory',
      answer: wholeSchema,
      command: { word: 'show', help: 'the text of one', flags: user, text: ({ text }) => text },
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
      command: {
        word: 'set',
        help: 'write one, from --file or a pipe',
        flags: { ...user, ...expects, file: ['--file <path>', 'its text; - is a pipe', { default: '-' }] },
        says: saysRevision,
      },
    }),
  }),
  () => ({
    deleteFile: operation({
      ...one,
      method: 'DELETE',
      scope: 'run',
      summary: 'Remove one; a user sees the agent’s own again',
      answer: z.null(),
      status: 204,
      refuses: ['Conflict'],
      command: {
        word: 'delete',
        help: 'remove one',
        flags: user,
        answer: ({ name }) => ({ path: name, deleted: true }),
        says: (_answer, { name }) => `${name} is deleted`,
      },
    }),
    listFileVersions: operation({
      ...one,
      path: `${one.path}/versions`,
      method: 'GET',
      scope: 'read',
      summary: 'List what was written to one, by whom, the newest first',
      description: `The newest ${DOCUMENT_LIMITS.versions} are kept. Those of the agent’s own are listed without \`user\`.`,
      answer: z.object({ data: z.array(versionSchema) }),
      command: {
        word: 'versions',
        help: 'what was written to one, by whom',
        flags: user,
        columns: {
          revision: 'revision',
          by: { flexible: 'author' },
          for: (row) => row.written_in?.user ?? '',
          'in session': { flexible: (row) => row.written_in?.session ?? '' },
          turn: (row) => row.written_in?.turn ?? '',
          bytes: ({ bytes }) => bytes ?? 'removed',
          written: { ago: 'created_at' },
        },
        nothing: 'It was never written.',
      },
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
      command: {
        word: 'compare',
        help: 'two versions of one, as a unified diff',
        flags: {
          ...user,
          from: ['--from <revision>', undefined, { required: true }],
          to: ['--to <revision>', 'as it is now when absent'],
        },
        text: ({ diff }) => diff || 'They are the same.',
      },
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
      command: {
        word: 'restore',
        help: 'write an earlier version again',
        arguments: ['revision'],
        flags: { ...user, ...expects },
        says: saysRevision,
      },
    }),
  }),
);
