/** Users' own credentials for an MCP server, and logins by OAuth. */
import { z } from 'zod';
import {
  mcpLoginSchema,
  mcpServerNameSchema,
  mcpUserCredentialsPutSchema,
  mcpUserCredentialsSchema,
} from '../schema/mcp-server.ts';
import { labelSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const path = '/v1/mcp/servers/:name/user-credentials';

const own = {
  scope: 'run',
  params: z.object({ name: mcpServerNameSchema }),
  query: z.strictObject({
    user: labelSchema.optional().describe('For admins; the user of the key when absent'),
  }),
  findsFirst: true,
} as const;

export const mcpCredentials = defineResource(
  {
    path,
    tag: 'mcp',
    item: mcpUserCredentialsSchema,
    key: 'name',
    missing: 'There is no MCP server of this name, or nothing was given for it',
  },
  () => ({
    getMcpUserCredentials: operation({
      ...own,
      method: 'GET',
      path,
      summary: 'Look at what a user has given for an MCP server',
      description:
        'Names, and no values. Of a server with credentials for all: whether an admin has logged in.',
      answer: mcpUserCredentialsSchema,
      command: { word: 'own', help: 'what you have given for a server, by names' },
    }),
    setMcpUserCredentials: operation({
      ...own,
      method: 'PUT',
      path,
      summary: 'Give a user’s own credentials for an MCP server',
      description:
        'For servers whose `credentials` are `per_user`. Replaces what was given before; a login stays.',
      body: mcpUserCredentialsPutSchema,
      answer: mcpUserCredentialsSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'credentials',
        help: 'give your own for a server; FILE has {"headers": {…}} or {"env": {…}}, - is a pipe',
        arguments: ['file'],
        file: '{"headers": {…}}',
        says: (_answer, { name }) => `${name} is used with them in your turns`,
      },
    }),
    deleteMcpUserCredentials: operation({
      ...own,
      method: 'DELETE',
      path,
      summary: 'Remove a user’s credentials for an MCP server, and end the login',
      description: 'Of a server with credentials for all it ends the login, for admins.',
      answer: z.null(),
      status: 204,
      command: {
        word: 'logout',
        help: 'remove your own credentials for a server, and end the login',
        answer: ({ name }) => ({ name, deleted: true }),
        says: (_answer, { name }) => `nothing of yours is kept for ${name}`,
      },
    }),
    startMcpLogin: operation({
      ...own,
      method: 'POST',
      path: '/v1/mcp/servers/:name/oauth/start',
      summary: 'Begin a login at an MCP server by OAuth',
      description:
        'For the user where each has his own credentials, else for all, by an admin. A login that was begun before is over.',
      body: z.strictObject({}).nullish(),
      answer: mcpLoginSchema,
      shownOnce: ['authorization_url'],
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'login',
        help: 'log in at a server: yourself where each user has his own credentials, else for all',
        says: ({ authorization_url, expires_at }) =>
          [
            'Open this in a browser, and log in there:',
            authorization_url,
            `It works once, until ${expires_at}.`,
          ].join('\n'),
      },
    }),
  }),
);
