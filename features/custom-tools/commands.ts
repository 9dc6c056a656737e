/** Implements `tempoclaw tools custom`: shell commands as tools of the agents, from YAML or JSON files. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { customTools as resource } from './resource.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { CliError, usageError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext, readJsonObject } from '#cli/command-context.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { printFields, printJson, printTable } from '#cli/output.ts';
import type { customToolSchema } from './schema.ts';

type CustomTool = z.infer<typeof customToolSchema>;

const { listCustomTools, getCustomTool, createCustomTool, putCustomTool, deleteCustomTool, testCustomTool } =
  resource.operations;

type CustomToolPage = z.output<typeof listCustomTools.answer>;

interface ToolOptions extends ApiOptions {
  /** The tool's agent, if several tools have its name. */
  readonly agent?: string;
}

export function register(tools: Command): void {
  const custom = tools
    .command('custom')
    .description('tools made of shell commands: list, show, add, test, remove');
  addCommands(custom, resource, { listCustomTools: { print: printList } });
  custom
    .command('add')
    .description('make a tool, or change the one of the same name and agent')
    .argument('<file>', 'YAML or JSON with its fields; - is a pipe')
    .action(add);
  const ofOne = (word: string, help: string): Command =>
    custom
      .command(word)
      .description(help)
      .argument('<name>', 'its name, its id, or the file that it was made from')
      .option('--agent <key>', 'the agent that it belongs to, when it is of one');
  ofOne('show', 'one custom tool').action(show);
  ofOne('test', 'what it would run with these arguments; runs nothing')
    .option('--args <json>', 'its arguments', '{}')
    .option('--as <key>', 'the agent whose rules apply')
    .action(test);
  ofOne('remove', 'remove a tool').action(remove);
}

function printList({ out, err }: CommandContext, { tools, offset, total }: CustomToolPage): void {
  if (tools.length === 0)
    return err.line('No custom tools. Make one: npx tempoclaw tools custom add FILE.yaml');
  printTable(
    out,
    {
      tool: 'name',
      agent: (tool) => tool.agent_id ?? 'all',
      state: (tool) => (tool.enabled ? 'on' : 'off'),
      replay: 'replay',
      command: { flexible: 'command' },
    },
    tools,
  );
  const shown = offset + tools.length;
  if (shown < total) err.line(err.paint('dim', `more: --offset ${shown} (${total} in all)`));
}

async function show(name: string, options: ToolOptions): Promise<void> {
  const context = createContext(options);
  printTool(context, await findTool(context, name, options.agent));
}

/** The same file again changes nothing, so that the file can be the tool's source. */
async function add(file: string, options: ApiOptions): Promise<void> {
  const context = createContext(options);
  const fields = readObjectFile(file, EXAMPLE);
  const { name, agent_id: agent } = fields;
  if (typeof name !== 'string') throw usageError(`${file} has no name.`);
  const old = await toolNamed(context, name, typeof agent === 'string' ? agent : null);
  // Fields that the file omits have the values of a new tool.
  const unset = {
    parameters: null,
    working_dir: null,
    env: null,
    enabled: true,
    replay: 'once',
    timeout_seconds: 0,
    description: '',
  } as const;
  const { client } = context;
  const tool = old
    ? await call(client, putCustomTool, { params: { id: old.id }, body: { ...unset, ...fields } })
    : await call(client, createCustomTool, { body: fields as never });
  printTool(context, tool);
}

const EXAMPLE =
  'one tool, such as:\nname: count_lines\ndescription: Count the lines of a file\ncommand: wc -l {{.file}}';

async function test(
  name: string,
  options: ToolOptions & { readonly args: string; readonly as?: string },
): Promise<void> {
  const context = createContext(options);
  const args = readJsonObject(options.args, '--args');
  const tool = await findTool(context, name, options.agent);
  const verdict = await call(context.client, testCustomTool, {
    params: { id: tool.id },
    body: { args, agent_id: options.as },
  });
  if (context.json) printJson(context.out, verdict);
  else printFields(context.out, verdict);
}

async function remove(name: string, options: ToolOptions): Promise<void> {
  const context = createContext(options);
  const tool = await findTool(context, name, options.agent);
  await call(context.client, deleteCustomTool, { params: { id: tool.id } });
  if (context.json) printJson(context.out, { id: tool.id, name: tool.name, deleted: true });
  else context.out.line(`custom tool ${tool.name} is removed`);
}

function printTool({ out, json }: CommandContext, tool: CustomTool): void {
  if (json) return printJson(out, tool);
  printFields(out, {
    ...tool,
    agent_id: tool.agent_id ?? 'all',
    env_names: tool.env_names.join(', ') || undefined,
  });
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function findTool(
  context: CommandContext,
  value: string,
  agent: string | undefined,
): Promise<CustomTool> {
  if (ID.test(value)) return call(context.client, getCustomTool, { params: { id: value } });
  const file = /\.(?:ya?ml|json)$/.test(value) ? readObjectFile(value, EXAMPLE) : undefined;
  const name = file ? String(file['name']) : value;
  const owner = agent ?? (typeof file?.['agent_id'] === 'string' ? file['agent_id'] : null);
  const tool = await toolNamed(context, name, owner);
  if (tool) return tool;
  throw new CliError(`There is no custom tool ${name}${owner === null ? '' : ` of agent ${owner}`}.`, {
    code: 'NotFound',
    remedy: 'See: npx tempoclaw tools custom list',
  });
}

/** The tool of the agent, or of all agents. */
async function toolNamed(
  { client }: CommandContext,
  name: string,
  agent: string | null,
): Promise<CustomTool | undefined> {
  const query = { name, agent_id: agent ?? undefined, limit: 200, offset: 0 };
  const { tools } = await call(client, listCustomTools, { query });
  return tools.find((tool) => tool.name === name && tool.agent_id === agent);
}
