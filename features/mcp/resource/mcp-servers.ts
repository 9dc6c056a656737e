/** MCP servers whose tools agents use (MC-1…MC-4): added, checked, and agreed to. */
import { z } from 'zod';
import {
  mcpConsentSchema,
  mcpServerChangeSchema,
  mcpServerCreateSchema,
  mcpServerNameSchema,
  mcpServerSchema,
} from '../schema/mcp-server.ts';
import { jsonObjectSchema } from '#domain/schema/scalars.ts';
import type { Flags } from '#domain/resource/command.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const path = '/v1/mcp/servers';

type Server = z.output<typeof mcpServerSchema>;

/** One line: its state and its tools. */
function stateOf({ name, status, error, tools }: Server): string {
  const changed = tools.filter((tool) => tool.changed).length;
  const waiting = changed > 0 ? `; ${changed} new or changed, off until consent` : '';
  const usable = tools.filter((tool) => tool.enabled).length;
  return `${name} is ${status}: ${usable} tools${waiting}${error === null ? '' : `; ${error}`}`;
}

const flags = {
  env: ['--env <name=secret...>', 'a variable and the secret it gets, such as TOKEN=secret://github'],
  url: ['--url <address>', 'where it is, when it is no program'],
  headers: [
    '--header <name=secret...>',
    'a header and the secret it gets, such as Authorization=secret://github',
  ],
  tool_prefix: ['--prefix <word>', "in place of its name in its tools' names"],
  timeout_sec: ['--timeout <seconds>', 'of one call'],
  credentials: [
    '--credentials <whose>',
    'per_user: each user gives his own',
    { choices: ['shared', 'per_user'] },
  ],
  internal_only: ['--internal', 'only for agents whose rules or skills name its tools'],
} as const satisfies Flags;

const checked = { scope: 'admin', body: z.strictObject({}).nullish() } as const;
export const mcpServers = defineResource(
  {
    path,
    tag: 'mcp',
    item: mcpServerSchema,
    key: 'name',
    keySchema: mcpServerNameSchema,
    // `tools` of a consent are compared with what the server has, and not stored.
    isDefinition: { except: ['env', 'headers', 'tools'] },
    missing: 'There is no MCP server of this name',
  },
  ({ listAll, show, create, change }) => ({
    listMcpServers: listAll({
      scope: 'admin',
      summary: 'List MCP servers with their tools',
      command: {
        help: 'the servers there are',
        columns: {
          server: 'name',
          status: (one) => (one.enabled ? one.status : 'off'),
          tools: (one) => one.tools.filter((tool) => tool.enabled).length,
          'to agree to': (one) => one.tools.filter((tool) => tool.changed).length || '-',
          where: { flexible: (one) => one.url || [one.command, ...one.args].join(' ') },
        },
        nothing: 'There is no MCP server.',
      },
    }),
    getMcpServer: show({
      scope: 'admin',
      summary: 'Get an MCP server with its tools',
      command: {
        help: 'one server and its tools',
        fields: ({ tools, args, replay, ...one }) => ({
          ...one,
          args: args.join(' '),
          replay: JSON.stringify(replay),
          ...Object.fromEntries(
            tools.map((tool) => [
              tool.tool,
              tool.gone ? 'gone' : tool.changed ? `waits for consent (${tool.found_hash})` : 'agreed to',
            ]),
          ),
        }),
      },
    }),
    exportMcpServers: operation({
      method: 'GET',
      path: '/v1/mcp/export',
      scope: 'admin',
      summary: 'Get the MCP servers as `mcpServers` of a file',
      description: 'Values that are no references become references to secrets, `secret://mcp_SERVER_NAME`.',
      answer: z.object({ mcpServers: z.record(z.string(), jsonObjectSchema) }),
      command: {
        word: 'export',
        help: 'the servers as a file that other programs and the settings understand; secrets are references',
        says: (servers) => JSON.stringify(servers, null, 2),
      },
    }),
    createMcpServer: create({
      scope: 'admin',
      summary: 'Add an MCP server',
      description:
        'A worker connects to it. What it lists first is agreed to; a tool that is new or other later is off until `consent`.',
      body: mcpServerCreateSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'add',
        help: 'add a server, a program (-- npx -y PACKAGE) or a --url; its tools as they are now are agreed to',
        arguments: ['name'],
        takesProgram: true,
        flags,
        says: (_server, { name }) => `${name} is added; see how it is: tempoclaw mcp test ${name}`,
      },
    }),
    updateMcpServer: change({
      scope: 'admin',
      summary: 'Change an MCP server',
      description:
        'Given fields replace the old ones whole. Its connections end; calls that were judged before do not run.',
      body: mcpServerChangeSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'set',
        help: 'change a server; what is not given stays',
        takesProgram: true,
        flags,
        says: (_server, { name }) => `${name} is changed`,
      },
    }),
  }),
  ({ remove, action }) => ({
    deleteMcpServer: remove({
      scope: 'admin',
      summary: 'Remove an MCP server',
      description: 'Calls of its tools that have not begun end with `NotFound`.',
      command: { word: 'delete', help: 'remove a server', says: (name) => `${name} is removed` },
    }),
    testMcpServer: action('test')({
      ...checked,
      summary: 'Have a worker look at an MCP server',
      description: 'Waits some seconds for it; `status` is `connecting` when no worker has looked by then.',
      command: { word: 'test', help: 'connect, and list its tools', says: stateOf },
    }),
    reconnectMcpServer: action('reconnect')({
      ...checked,
      summary: 'Connect to an MCP server anew',
      description: 'Ends the connections of all workers, also one that is waiting to be tried again.',
      command: {
        word: 'reconnect',
        help: 'end its connections and make a new one',
        says: stateOf,
      },
    }),
    consentToMcpTools: action('consent')({
      scope: 'admin',
      summary: 'Agree to tools of an MCP server as they are now',
      body: mcpConsentSchema,
      command: {
        word: 'consent',
        help: 'agree to its new and changed tools as they are now',
        says: stateOf,
      },
    }),
  }),
);
