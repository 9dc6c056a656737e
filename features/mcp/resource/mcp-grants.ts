/** Who may use what of an MCP server (MC-3). Commands: features/mcp/commands/mcp.ts. */
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
    }),
    deleteMcpGrant: operation({
      ...one,
      method: 'DELETE',
      scope: 'admin',
      summary: 'Remove a grant on an MCP server',
      answer: z.null(),
      status: 204,
    }),
  }),
);
