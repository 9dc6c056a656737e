/**
 * Implements `tempoclaw mcp`: MCP servers whose tools agents use, who may use them, and the file in which other
 * programs store them. `serve` makes TempoClaw one.
 */
import type { Command } from 'commander';
import { isRecord } from '#domain/outside-value.ts';
import { mcpCredentials } from '../resource/mcp-credentials.ts';
import { mcpGrants } from '../resource/mcp-grants.ts';
import { mcpRequests } from '../resource/mcp-requests.ts';
import { mcpServers as resource } from '../resource/mcp-servers.ts';
import {
  fromCommonShape,
  MCP_TRANSPORTS,
  mcpServerCreateSchema,
  mcpServersFileSchema,
} from '../schema/mcp-server.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, createContext } from '#cli/command-context.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { printJson } from '#cli/output.ts';

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

/** The program comes after the flags. */
const sends = (
  { name: _name, ...flags }: Pairs & { readonly name: string },
  _context: unknown,
  program: readonly string[],
) => bodyOf(flags, program);

export function register(mcp: Command): void {
  addCommands(mcp, resource, {
    createMcpServer: { sends: (input: Pairs, _context, program) => bodyOf(input, program) },
    updateMcpServer: { sends },
  });
  addCommands(mcp, mcpGrants);
  addCommands(
    mcp.command('requests').description('who asks for access, and what an admin says'),
    mcpRequests,
  );
  addCommands(mcp, mcpCredentials);
  mcp
    .command('import')
    .description('add the servers of a file with `mcpServers`, as other programs keep it')
    .argument('<file>', 'JSON; - is a pipe')
    .action(importFile);
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
