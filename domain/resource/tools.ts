/** Lists the tools, and calls one outside of a conversation. */
import { z } from 'zod';
import { waitSchema } from '../schema/message.ts';
import { nameSchema, pageSchema } from '../schema/scalars.ts';
import {
  dialectSchema,
  seedInvocationSchema,
  seedInvokeSchema,
  toolInvocationSchema,
  toolInvokeSchema,
  toolSchema,
} from '../schema/tool.ts';
import { defineResource, operation } from './define-resource.ts';

const path = '/v1/tools';
const DEFAULT_WAIT_SECONDS = 60;

const agentQuery = z.strictObject({
  agent: nameSchema.optional().describe('With the tools of its own; else those of all agents'),
  dialect: dialectSchema.optional().describe('In the words that agents with these `tool_names` are told'),
});

const invoked = {
  method: 'POST',
  scope: 'run',
  repeatable: true,
  query: z.strictObject({ wait: waitSchema.default(DEFAULT_WAIT_SECONDS) }),
  mayGoOn: true,
  command: { by: 'tools invoke' },
} as const;

export const tools = defineResource(
  {
    path,
    tag: 'tools',
    item: toolSchema,
    key: 'name',
    missing: 'There is no tool with this name; GET /v1/tools lists them',
  },
  ({ show }) => ({
    listTools: operation({
      method: 'GET',
      path,
      scope: 'read',
      summary: 'List tools with the JSON Schema of their arguments',
      query: agentQuery,
      answer: pageSchema(toolSchema),
      refuses: ['NotFound'],
      command: {
        word: 'list',
        help: 'the tools there are',
        flags: {
          agent: ['--agent <key>', 'with those of its own'],
          dialect: ['--dialect <name>', 'as models are told that speak goclaw or clawft'],
        },
        columns: {
          tool: 'name',
          group: 'group',
          replay: 'replay',
          'what it does': { flexible: 'description' },
        },
        nothing: 'No tools.',
      },
    }),
    listBuiltinTools: operation({
      method: 'GET',
      path: `${path}/builtin`,
      scope: 'read',
      summary: 'List the tools that are part of TempoClaw',
      description:
        'GoClaw’s address; the same as `GET /v1/tools` without what tenants and MCP servers bring.',
      query: agentQuery.pick({ dialect: true }),
      answer: pageSchema(toolSchema),
      command: { by: 'tools list' },
    }),
    getBuiltinTool: operation({
      method: 'GET',
      path: `${path}/builtin/:name`,
      scope: 'read',
      summary: 'Get a tool that is part of TempoClaw',
      params: z.object({ name: z.string() }),
      answer: toolSchema,
      command: { by: 'tools show' },
    }),
    getTool: {
      ...show({ scope: 'read', summary: 'Get a tool', command: { by: 'tools show' } }),
      query: agentQuery.pick({ agent: true }),
    },
    invokeTool: operation({
      ...invoked,
      path: `${path}/:name/invoke`,
      params: z.object({ name: z.string() }),
      findsFirst: true,
      summary: 'Run a tool',
      description:
        'The call is a turn of its own: policy, approvals, ledger and the Temporal UI apply as for an agent. 200 when it has ended, 202 while it waits for an approval or still runs.',
      body: toolInvokeSchema,
      answer: toolInvocationSchema,
      refuses: ['Conflict', 'QueueFull'],
    }),
    invokeToolByName: operation({
      ...invoked,
      path: `${path}/invoke`,
      summary: 'Run a tool, in GoClaw’s form',
      description:
        '`POST /v1/tools/{name}/invoke` with GoClaw’s fields. With `dryRun` nothing is run: the answer says what would be decided.',
      body: seedInvokeSchema,
      answer: seedInvocationSchema,
      refuses: ['NotFound', 'Conflict', 'QueueFull'],
    }),
  }),
);
