/**
 * Implements `tempoclaw mcp`: MCP servers whose tools agents use, who may use them, and the file in which other
 * programs store them. `serve` makes TempoClaw one.
 */
import type { Command } from 'commander';
import { isRecord } from '#domain/outside-value.ts';
import type { McpGrant } from '../rules/grants.ts';
import { MCP_TRANSPORTS } from '../rules/server.ts';
import { mcpRequests } from '../resource/mcp-requests.ts';
import { mcpServers as resource } from '../resource/mcp-servers.ts';
import { fromCommonShape, mcpServerCreateSchema, mcpServersFileSchema } from '../schema/mcp-server.ts';
import { addApiCommand, addList, type Flags } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { printJson } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';

const GRANT = '/v1/mcp/servers/:name/grants/:kind/:subject';

const OWN = '/v1/mcp/servers/:name/user-credentials';

const FLAGS = {
  env: {
    flags: '--env <name=secret...>',
    help: 'a variable and the secret it gets, such as TOKEN=secret://github',
    kind: 'texts',
  },
  url: { flags: '--url <address>', help: 'where it is, when it is no program' },
  headers: {
    flags: '--header <name=secret...>',
    help: 'a header and the secret it gets, such as Authorization=secret://github',
    kind: 'texts',
  },
  tool_prefix: { flags: '--prefix <word>', help: "in place of its name in its tools' names" },
  timeout_sec: { flags: '--timeout <seconds>', help: 'of one call', kind: 'number' },
  credentials: {
    flags: '--credentials <whose>',
    help: 'per_user: each user gives his own',
    choices: ['shared', 'per_user'],
  },
  internal_only: { flags: '--internal', help: 'only for agents whose rules or skills name its tools' },
} as const satisfies Flags;

interface Pairs {
  readonly env: string[] | undefined;
  readonly headers: string[] | undefined;
}

function bodyOf<Given extends Pairs>(
  { env, headers, ...flags }: Given,
  [command, ...args]: readonly string[],
): object {
  return {
    ...flags,
    ...(command === undefined ? {} : { command, args }),
    env: env && readPairs('--env', env),
    headers: headers && readPairs('--header', headers),
  };
}

/** Accepts only references, because a value among the arguments could be read from the list of processes. */
function readPairs(flag: string, words: readonly string[]): Record<string, string> {
  const pairs = words.map(
    (word) => [word.split('=', 1)[0] ?? '', word.slice(word.indexOf('=') + 1)] as const,
  );
  if (pairs.some(([, value]) => !/^(?:Bearer )?secret:\/\//.test(value)))
    throw usageError(
      `${flag} takes NAME=secret://SECRET; values themselves are not taken from arguments.`,
      'Set the value first: npx tempoclaw secrets set SECRET',
    );
  return Object.fromEntries(pairs);
}

interface Login {
  readonly authorization_url: string;
  readonly expires_at: string;
}

export function register(mcp: Command): void {
  addCommands(mcp, resource, {
    createMcpServer: (parent) =>
      addApiCommand(parent, {
        word: 'add',
        help: 'add a server, a program (-- npx -y PACKAGE) or a --url; its tools as they are now are agreed to',
        method: 'POST',
        path: '/v1/mcp/servers',
        arguments: ['name'],
        takesProgram: true,
        flags: FLAGS,
        sends: (input, _context, program) => bodyOf(input, program),
        print: ({ out }, _server, { name }) =>
          out.line(`${name} is added; see how it is: tempoclaw mcp test ${name}`),
      }),
    updateMcpServer: (parent) =>
      addApiCommand(parent, {
        word: 'set',
        help: 'change a server; what is not given stays',
        method: 'PATCH',
        path: '/v1/mcp/servers/:name',
        takesProgram: true,
        flags: FLAGS,
        sends: ({ name: _name, ...flags }, _context, program) => bodyOf(flags, program),
        print: ({ out }, _server, { name }) => out.line(`${name} is changed`),
      }),
  });
  addGrants(mcp);
  addCommands(
    mcp.command('requests').description('who asks for access, and what an admin says'),
    mcpRequests,
  );
  addOwnCredentials(mcp);
  addApiCommand(mcp, {
    word: 'export',
    help: 'the servers as a file that other programs and the settings understand; secrets are references',
    path: '/v1/mcp/export',
    print: ({ out }, servers: object) => printJson(out, servers),
  });
  mcp
    .command('import')
    .description('add the servers of a file with `mcpServers`, as other programs keep it')
    .argument('<file>', 'JSON; - is a pipe')
    .action(importFile);
  // This must be last: `mcp` without a word runs it.
}

/** Adds the commands for who may use what. */
function addGrants(mcp: Command): void {
  addList<McpGrant>(mcp, {
    word: 'grants',
    help: 'who may use what of a server',
    path: '/v1/mcp/servers/:name/grants',
    isWhole: true,
    columns: [
      { title: 'for', cell: ({ kind, subject }) => `${kind} ${subject}` },
      { title: 'tools', cell: ({ tool_allow }) => tool_allow.join(', ') || 'all', flexible: true },
      { title: 'not', cell: ({ tool_deny }) => tool_deny.join(', ') || '-', flexible: true },
      { title: 'on', cell: ({ enabled }) => (enabled ? 'yes' : 'no') },
    ],
    nothing: 'There is no grant on it.',
  });
  addApiCommand(mcp, {
    word: 'grant',
    help: 'say what an agent or a user may use of a server; KIND is agent or user',
    method: 'PUT',
    path: GRANT,
    flags: {
      tool_allow: { flags: '--allow <tool...>', help: 'only these tools; globs', kind: 'texts' },
      tool_deny: { flags: '--deny <tool...>', help: 'not these tools; globs', kind: 'texts' },
      timeout: {
        flags: '--timeout <seconds>',
        help: "of one call, in place of the server's; of an agent",
        kind: 'number',
      },
      off: { flags: '--off', help: 'none of it' },
    },
    sends: ({ tool_allow, tool_deny, off, timeout }) => ({
      tool_allow,
      tool_deny,
      ...(timeout !== undefined && { config_overrides: { timeout_sec: timeout } }),
      ...(off && { enabled: false }),
    }),
    print: ({ out }, { kind, subject, enabled }: McpGrant, { name }) =>
      out.line(`${kind} ${subject} ${enabled ? 'has a grant' : 'is refused'} on ${name}`),
  });
  addApiCommand(mcp, {
    word: 'ungrant',
    help: 'remove a grant on a server',
    method: 'DELETE',
    path: GRANT,
    answer: ({ kind, subject }) => ({ kind, subject, deleted: true }),
    print: ({ out }, _answer, { name, kind, subject }) =>
      out.line(`the grant of ${kind} ${subject} on ${name} is removed`),
  });
}

/** Adds the commands for users' own credentials and logins. */
function addOwnCredentials(mcp: Command): void {
  addApiCommand(mcp, {
    word: 'login',
    help: 'log in at a server: yourself where each user has his own credentials, else for all',
    method: 'POST',
    path: '/v1/mcp/servers/:name/oauth/start',
    sends: () => ({}),
    print: ({ out }, { authorization_url, expires_at }: Login) => {
      out.line('Open this in a browser, and log in there:');
      out.line(authorization_url);
      out.line(`It works once, until ${expires_at}.`);
    },
  });
  addApiCommand(mcp, {
    word: 'credentials',
    help: 'give your own for a server; FILE has {"headers": {…}} or {"env": {…}}, - is a pipe',
    method: 'PUT',
    path: OWN,
    arguments: ['file'],
    sends: ({ file }) => readObjectFile(file, '{"headers": {…}}'),
    print: ({ out }, _answer, { name }) => out.line(`${name} is used with them in your turns`),
  });
  addApiCommand(mcp, {
    word: 'logout',
    help: 'remove your own credentials for a server, and end the login',
    method: 'DELETE',
    path: OWN,
    answer: ({ name }) => ({ name, deleted: true }),
    print: ({ out }, _answer, { name }) => out.line(`nothing of yours is kept for ${name}`),
  });
}

async function importFile(file: string, options: ApiOptions): Promise<void> {
  const context = createContext(options);
  const read = mcpServersFileSchema.safeParse(readObjectFile(file, '{"mcpServers": {…}}'));
  if (!read.success)
    throw usageError(`${file} must hold {"mcpServers": {NAME: {"command": …} or {"url": …}}}`);
  const servers = Object.entries(read.data.mcpServers).map(([name, input]) => serverOf(name, input));
  const added: unknown[] = [];
  for (const body of servers) {
    try {
      added.push(await call(context.client, resource.operations.createMcpServer, { body: body as never }));
    } catch (error) {
      const before = added.length === 0 ? '' : ` ${added.length} of the file were added before it.`;
      throw new CliError(`${body.name}: ${error instanceof Error ? error.message : String(error)}${before}`);
    }
    if (!context.json) context.out.line(`${body.name} is added`);
  }
  if (context.json) printJson(context.out, { data: added });
}

/** Omits fields that are not known here. */
function serverOf(name: string, input: Readonly<Record<string, unknown>>): { readonly name: string } {
  const { args, env, headers, transport, ...rest } = fromCommonShape(input) as typeof input;
  const known = Object.entries(rest).filter(
    ([field]) => field !== 'name' && Object.hasOwn(mcpServerCreateSchema.shape, field),
  );
  return {
    name,
    ...Object.fromEntries(known),
    ...(MCP_TRANSPORTS.some((one) => one === transport) && { transport }),
    ...(Array.isArray(args) && { args: args.map(String) }),
    ...(isRecord(env) && { env: texts(env) }),
    ...(isRecord(headers) && { headers: texts(headers) }),
  };
}

function texts(options: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)]));
}
