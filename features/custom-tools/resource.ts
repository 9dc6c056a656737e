/** Custom tools (CU-1): created, changed and deleted, and usable by the next step of any turn. */
import { z } from 'zod';
import {
  customToolChangeSchema,
  customToolCreateSchema,
  customToolSchema,
  customToolTestSchema,
  customToolVerdictSchema,
} from './schema.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

/** A limit that is out of range becomes the default. */
const DEFAULT_LIMIT = 50;

const change = {
  scope: 'admin',
  summary: 'Change a custom tool',
  description:
    'Given fields replace the old ones whole, `env` with all its variables; null removes an optional one. Calls that were judged by the tool as it was do not run.',
  body: customToolChangeSchema,
  answer: customToolSchema.extend({ status: z.literal('updated') }),
  /** Largest body in bytes. */
  maxBytes: 1_048_576,
  refuses: ['Conflict', 'TooLarge', 'Unprocessable'],
  command: { by: 'tools custom add' },
} as const;

export const customTools = defineResource(
  {
    path: '/v1/tools/custom',
    tag: 'tools',
    item: customToolSchema,
    key: 'id',
    keySchema: z.uuid(),
    // A test stores no arguments.
    isDefinition: { except: ['env', 'args'] },
    missing: 'There is no custom tool with this id',
    malformed: 'The id of a custom tool is a UUID',
  },
  (make) => ({
    // Pages are numbered, without a cursor, as in other systems.
    listCustomTools: operation({
      method: 'GET',
      path: '/v1/tools/custom',
      scope: 'read',
      summary: 'List custom tools',
      query: z.strictObject({
        agent_id: nameSchema.optional().describe('Only those of this agent'),
        name: nameSchema.optional().describe('Of exactly this name'),
        search: z.string().max(200).optional().describe('Part of a name or description'),
        limit: z.coerce.number().int().min(1).max(200).catch(DEFAULT_LIMIT),
        offset: z.coerce.number().int().min(0).max(100_000).catch(0),
      }),
      answer: z.object({
        tools: z.array(customToolSchema),
        total: z.int(),
        limit: z.int(),
        offset: z.int(),
      }),
      command: {
        word: 'list',
        help: 'the custom tools there are',
        flags: {
          agent_id: ['--agent <key>', 'only those of this agent'],
          search: ['--search <words>', 'part of a name or description'],
          limit: ['--limit <n>', 'rows to show, 1 to 200', { bounds: [1, 200], default: 50 }],
          offset: ['--offset <n>', 'rows to leave out'],
        },
      },
    }),
    getCustomTool: make.show({
      scope: 'read',
      summary: 'Get a custom tool',
      command: { by: 'tools custom show' },
    }),
    createCustomTool: make.create({
      scope: 'admin',
      summary: 'Make a tool of a shell command',
      description:
        'Each `{{.key}}` of the command becomes one quoted argument. Agents have it from their next step on.',
      body: customToolCreateSchema,
      maxBytes: change.maxBytes,
      refuses: change.refuses,
      command: change.command,
    }),
    updateCustomTool: make.change(change),
    putCustomTool: make.replace(change),
    deleteCustomTool: {
      ...make.remove({
        scope: 'admin',
        summary: 'Delete a custom tool',
        description: 'Calls of it that have not begun end with `NotFound`; one that runs goes on.',
        command: { by: 'tools custom remove' },
      }),
      answer: z.object({ status: z.literal('deleted') }),
      status: 200,
    },
    testCustomTool: make.action('test')({
      scope: 'admin',
      summary: 'See what a custom tool would run',
      description: 'The rendered command and the verdict on it for an agent. Runs nothing.',
      body: customToolTestSchema,
      answer: customToolVerdictSchema,
      command: { by: 'tools custom test' },
    }),
  }),
);
