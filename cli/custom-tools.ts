/** `tempoclaw tools custom`: shell commands as tools of the agents, from YAML or JSON files. */
import type { Command } from 'commander';
import { CliError, usageError } from './cli-error.ts';
import {
  type ApiOptions,
  type CommandContext,
  createContext,
  pathOf,
  readJsonObject,
  readLimit,
  withApiOptions,
} from './command-context.ts';
import { readObjectFile } from './object-file.ts';
import { printFields, printJson, printTable } from './output.ts';
import type { CustomTool, CustomToolVerdict } from './wire.ts';

interface ToolOptions extends ApiOptions {
  /** Of the tool, where several have its name. */
  readonly agent?: string;
}

interface CustomToolPage {
  readonly tools: readonly CustomTool[];
  readonly total: number;
}

export function addCustomToolCommands(tools: Command): void {
  const custom = tools
    .command('custom')
    .description('tools made of shell commands: list, show, add, test, remove');
  withApiOptions(
    custom
      .command('list', { isDefault: true })
      .description('the custom tools there are')
      .option('--agent <key>', 'only those of this agent')
      .option('--search <words>', 'part of a name or description')
      .option('--limit <n>', 'rows to show, 1 to 200', readLimit, 50)
      .option('--offset <n>', 'rows to leave out'),
  ).action(list);
  withToolOptions(custom.command('show').description('one custom tool'), '<name>').action(show);
  withApiOptions(
    custom
      .command('add')
      .description('make a tool, or change the one of the same name and agent')
      .argument('<file>', 'YAML or JSON with its fields; - is a pipe'),
  ).action(add);
  withToolOptions(
    custom.command('test').description('what it would run with these arguments; runs nothing'),
    '<name>',
  )
    .option('--args <json>', 'its arguments', '{}')
    .option('--as <key>', 'the agent whose rules apply')
    .action(test);
  withToolOptions(custom.command('remove').description('remove a tool'), '<name>').action(remove);
}

function withToolOptions(command: Command, argument: string): Command {
  return withApiOptions(command)
    .argument(argument, 'its name, its id, or the file that it was made from')
    .option('--agent <key>', 'the agent that it belongs to, when it is of one');
}

interface ListOptions extends ToolOptions {
  readonly search?: string;
  readonly limit: number;
  readonly offset?: string;
}

async function list(options: ListOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { agent, search, limit, offset } = options;
  const page = await client.get<CustomToolPage>(pathOf('tools', 'custom'), {
    agent_id: agent,
    search,
    limit,
    offset,
  });
  if (json) return printJson(out, page);
  if (page.tools.length === 0)
    return err.line('No custom tools. Make one: npx tempoclaw tools custom add FILE.yaml');
  printTable(
    out,
    [
      { title: 'tool', cell: (tool) => tool.name },
      { title: 'agent', cell: (tool) => tool.agent_id ?? 'all' },
      { title: 'state', cell: (tool) => (tool.enabled ? 'on' : 'off') },
      { title: 'replay', cell: (tool) => tool.replay },
      { title: 'command', cell: (tool) => tool.command, flexible: true },
    ],
    page.tools,
  );
  const shown = Number(offset ?? 0) + page.tools.length;
  if (shown < page.total) err.line(err.paint('dim', `more: --offset ${shown} (${page.total} in all)`));
}

async function show(name: string, options: ToolOptions): Promise<void> {
  const context = createContext(options);
  printTool(context, await findTool(context, name, options.agent));
}

/** Again with the same file changes nothing, so that a file is the tool's home. */
async function add(file: string, options: ApiOptions): Promise<void> {
  const context = createContext(options);
  const fields = readObjectFile(file, EXAMPLE);
  const { name, agent_id: agent } = fields;
  if (typeof name !== 'string') throw usageError(`${file} has no name.`);
  const path = pathOf('tools', 'custom');
  const old = await toolNamed(context, name, typeof agent === 'string' ? agent : null);
  // What the file does not say is as in a new tool.
  const unset = {
    parameters: null,
    working_dir: null,
    env: null,
    enabled: true,
    replay: 'once',
    timeout_seconds: 0,
    description: '',
  };
  const tool = old
    ? await context.client.put<CustomTool>(pathOf('tools', 'custom', old.id), { ...unset, ...fields })
    : await context.client.post<CustomTool>(path, fields);
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
  const verdict = await context.client.post<CustomToolVerdict>(pathOf('tools', 'custom', tool.id, 'test'), {
    args,
    agent_id: options.as,
  });
  if (context.json) printJson(context.out, verdict);
  else printFields(context.out, { ...verdict, command: verdict.command ?? undefined });
}

async function remove(name: string, options: ToolOptions): Promise<void> {
  const context = createContext(options);
  const tool = await findTool(context, name, options.agent);
  await context.client.delete(pathOf('tools', 'custom', tool.id));
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
  given: string,
  agent: string | undefined,
): Promise<CustomTool> {
  if (ID.test(given)) return context.client.get<CustomTool>(pathOf('tools', 'custom', given));
  const file = /\.(?:ya?ml|json)$/.test(given) ? readObjectFile(given, EXAMPLE) : undefined;
  const name = file ? String(file['name']) : given;
  const owner = agent ?? (typeof file?.['agent_id'] === 'string' ? file['agent_id'] : null);
  const tool = await toolNamed(context, name, owner);
  if (tool) return tool;
  throw new CliError(`There is no custom tool ${name}${owner === null ? '' : ` of agent ${owner}`}.`, {
    code: 'NotFound',
    remedy: 'See: npx tempoclaw tools custom list',
  });
}

/** The one of the agent, or of all agents. */
async function toolNamed(
  { client }: CommandContext,
  name: string,
  agent: string | null,
): Promise<CustomTool | undefined> {
  const { tools } = await client.get<CustomToolPage>(pathOf('tools', 'custom'), {
    name,
    agent_id: agent ?? undefined,
  });
  return tools.find((tool) => tool.name === name && tool.agent_id === agent);
}
