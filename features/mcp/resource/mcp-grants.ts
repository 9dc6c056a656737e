/** Who may use what of an MCP server (MC-3). */
import { z } from 'zod';
import {
  mcpGrantKindSchema,
  mcpGrantPutSchema,
  mcpGrantSchema,
  mcpServerNameSchema,
} from '../schema/mcp-server.ts';
import { labelSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const path = '/v1/mcp/servers/:name/grants';

const one = {
  path: `${path}/:kind/:subject`,
  params: z.object({ name: mcpServerNameSchema, kind: mcpGrantKindSchema, subject: labelSchema }),
  findsFirst: true,
} as const;

export const mcpGrants = defineResource(
  {
    path,
    tag: 'mcp',
    item: mcpGrantSchema,
    key: 'name',
    isDefinition: true,
    missing: 'There is no MCP server of this name, or no such grant on it',
  },
  () => ({
    listMcpGrants: operation({
      method: 'GET',
      path,
      scope: 'admin',
      summary: 'List who may use what of an MCP server',
      params: z.object({ name: mcpServerNameSchema }),
      answer: z.object({ data: z.array(mcpGrantSchema) }),
      findsFirst: true,
      command: {
        word: 'grants',
        help: 'who may use what of a server',
        columns: {
          for: ({ kind, subject }) => `${kind} ${subject}`,
          tools: { flexible: ({ tool_allow }) => tool_allow.join(', ') || 'all' },
          not: { flexible: ({ tool_deny }) => tool_deny.join(', ') || '-' },
          on: ({ enabled }) => (enabled ? 'yes' : 'no'),
        },
        nothing: 'There is no grant on it.',
      },
    }),
    setMcpGrant: operation({
      ...one,
      method: 'PUT',
      scope: 'admin',
      summary: 'Say what an agent or a user may use of an MCP server',
      description:
        'Grants of the agent and the user both hold; what either denies is denied. It is asked at each call.',
      body: mcpGrantPutSchema,
      answer: mcpGrantSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'grant',
        help: 'say what an agent or a user may use of a server; KIND is agent or user',
        flags: {
          tool_allow: ['--allow <tool...>', 'only these tools; globs'],
          tool_deny: ['--deny <tool...>', 'not these tools; globs'],
          timeout: [
            '--timeout <seconds>',
            "of one call, in place of the server's; of an agent",
            { kind: 'number' },
          ],
          off: ['--off', 'none of it'],
        },
        sends: ({ tool_allow, tool_deny, off, timeout }) => ({
          tool_allow,
          tool_deny,
          ...(timeout !== undefined && { config_overrides: { timeout_sec: timeout } }),
          ...(off && { enabled: false }),
        }),
        says: ({ kind, subject, enabled }, { name }) =>
          `${kind} ${subject} ${enabled ? 'has a grant' : 'is refused'} on ${name}`,
      },
    }),
    deleteMcpGrant: operation({
      ...one,
      method: 'DELETE',
      scope: 'admin',
      summary: 'Remove a grant on an MCP server',
      answer: z.null(),
      status: 204,
      command: {
        word: 'ungrant',
        help: 'remove a grant on a server',
        answer: ({ kind, subject }) => ({ kind, subject, deleted: true }),
        says: (_answer, { name, kind, subject }) => `the grant of ${kind} ${subject} on ${name} is removed`,
      },
    }),
  }),
);
