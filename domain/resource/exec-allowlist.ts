/** Calls that people have allowed permanently, and withdrawing that (SH-2). */
import { z } from 'zod';
import { isMessageId } from '../ids.ts';
import { idSchema, labelSchema, nameSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource } from './define-resource.ts';

const itemSchema = z.object({
  id: z.string(),
  agent: nameSchema,
  user: z.string().nullable().describe('Null: for everybody who talks to the agent'),
  tool: z.string(),
  allows: z
    .string()
    .describe('The file that a command starts and its exact arguments, or a call’s arguments'),
  approval_id: idSchema.nullable(),
  created_by: z.string(),
  created_at: timeSchema,
});

export const execAllowlist = defineResource(
  {
    path: '/v1/exec-allowlist',
    tag: 'policy',
    item: itemSchema,
    key: 'id',
    isKey: isMessageId,
    isDefinition: true,
    missing: 'There is no entry with this id',
  },
  ({ list, remove }) => ({
    listExecAllowlist: list({
      scope: 'read',
      summary: 'List what was allowed always, newest first',
      description: 'A key with a user sees what is its user’s or everybody’s.',
      query: { agent: nameSchema.optional(), user: labelSchema.optional() },
      command: {
        help: 'what runs without a question',
        flags: {
          agent: ['--agent <key>', 'of this agent'],
          user: ['--user <id>', 'of this user'],
        },
        columns: {
          id: 'id',
          agent: 'agent',
          user: (entry) => entry.user ?? '(all)',
          tool: 'tool',
          allows: { flexible: 'allows' },
          by: 'created_by',
        },
        nothing: 'Nothing was allowed always.',
      },
    }),
    deleteExecAllowlistEntry: remove({
      scope: 'approve',
      summary: 'Take back what was allowed always',
      description: 'From the next judged call on. A key with a user takes back its user’s own.',
      gone: 'It is no longer allowed',
      command: {
        word: 'revoke',
        help: 'ask again from the next call on',
        says: (id) => `${id} is asked about again`,
      },
    }),
  }),
);
