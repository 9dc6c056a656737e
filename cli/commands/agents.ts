/** `tempoclaw agents`: list, show, create, update and delete, from flags or a YAML or JSON file. */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { agents as resource } from '#domain/resource/agents.ts';
import { addApiCommand } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { usageError } from '#cli/cli-error.ts';
import { type ApiOptions, type CommandContext, createContext, wholeNumber } from '#cli/command-context.ts';
import { readObjectFile, readTextFile } from '#cli/object-file.ts';
import { printFields, printJson } from '#cli/output.ts';
import { addCommands } from '#cli/resource-commands.ts';
import { agoWords } from '#cli/text.ts';
import type { Agent } from '#cli/wire.ts';

const { getAgent, createAgent, updateAgent } = resource.operations;

interface AgentFlags extends ApiOptions {
  readonly file?: string;
  readonly model?: readonly string[];
  readonly name?: string;
  readonly type?: string;
  readonly instructions?: string;
  readonly profile?: string;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly execSecurity?: string;
  readonly execAsk?: string;
  readonly iterations?: number;
  readonly workspace?: string;
}

export function register(agents: Command): void {
  addCommands(agents, resource, { getAgent: addShow, createAgent: addCreate, updateAgent: addUpdate });
}

function addShow(agents: Command): void {
  addApiCommand(agents, {
    word: 'show',
    help: 'one agent',
    path: '/v1/agents/:key',
    print: (context, agent: Agent) => printAgent(context, agent),
  });
}

function addCreate(agents: Command): void {
  withAgentFlags(agents.command('create [key]').description('make an agent')).action(create);
}

function addUpdate(agents: Command): void {
  const command = agents.command('update <key>');
  withAgentFlags(command.description('change an agent; what is given replaces what was there')).action(
    update,
  );
}

function withAgentFlags(command: Command): Command {
  return command
    .option('--file <path>', 'a YAML or JSON file with the agent (- reads it from a pipe); flags win over it')
    .option('--model <ref...>', 'provider/model; several are tried in order')
    .option('--name <name>')
    .option('--type <type>', 'open or predefined')
    .option('--instructions <text>', 'what the agent is told; @FILE reads them from a file')
    .option('--profile <name>', 'tool profile')
    .option('--allow <tool...>', 'tools it may use: names, globs, group:NAME')
    .option('--deny <tool...>', 'tools it may not use')
    .option('--exec-security <level>', 'deny, allowlist or full')
    .option('--exec-ask <when>', 'off, on-miss or always')
    .option('--iterations <n>', 'model calls in a turn', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--workspace <name>', 'folder under the workspace root');
}

async function create(key: string | undefined, options: AgentFlags): Promise<void> {
  const context = createContext(options);
  const agent = readAgent(options);
  const wished = key ?? agent['key'];
  if (typeof wished !== 'string')
    throw usageError('The agent has no key.', 'Write: npx tempoclaw agents create KEY --model …');
  printAgent(context, await call(context.client, createAgent, { body: { ...agent, key: wished } as never }));
}

async function update(key: string, options: AgentFlags): Promise<void> {
  const context = createContext(options);
  const { key: named, ...changes } = readAgent(options);
  if (named !== undefined && named !== key)
    throw usageError(`The file is about agent ${String(named)}, not ${key}.`);
  if (Object.keys(changes).length === 0)
    throw usageError('Nothing to change was given.', 'See: npx tempoclaw agents update --help');
  // A flag changes one part of a group such as `tools`; the API replaces the group whole.
  const old = await call(context.client, getAgent, { params: { key } });
  const groups = options.file === undefined ? mergeGroups(old, changes) : changes;
  printAgent(context, await call(context.client, updateAgent, { params: { key }, body: groups }));
}

function printAgent({ out, json }: CommandContext, agent: Agent): void {
  if (json) return printJson(out, agent);
  const now = Date.now();
  const { key, name, description, type, model, revision, created_at, updated_at, instructions, ...rest } =
    agent;
  printFields(out, {
    agent: key,
    name,
    description,
    model: [model].flat().join(', else '),
    type,
    changed: `${agoWords(updated_at, now)}, revision ${revision}; made ${agoWords(created_at, now)}`,
    ...Object.fromEntries(Object.entries(rest).map(([field, value]) => [field, asYaml(value)])),
    instructions,
  });
  out.line(`\n${out.paint('dim', `talk to it: npx tempoclaw chat --agent ${key}`)}`);
}

/** As it would stand in a file for `--file`. */
function asYaml(value: unknown): unknown {
  return typeof value === 'object' ? stringify(value).trim() : value;
}

function mergeGroups(old: Agent, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...changes };
  for (const group of ['tools', 'exec', 'limits'] as const) {
    const change = changes[group];
    if (typeof change === 'object') merged[group] = { ...old[group], ...change };
  }
  return merged;
}

const EXAMPLE = 'one agent, such as:\nkey: helper\nmodel: openai/gpt-4.1-mini';

function readAgent(flags: AgentFlags): Record<string, unknown> {
  const file = flags.file === undefined ? {} : readObjectFile(flags.file, EXAMPLE);
  const { model } = flags;
  const tools = given({ profile: flags.profile, allow: flags.allow, deny: flags.deny });
  const exec = given({ security: flags.execSecurity, ask: flags.execAsk });
  const limits = given({ iterations: flags.iterations });
  return {
    ...file,
    ...given({
      model: model?.length === 1 ? model[0] : model,
      name: flags.name,
      type: flags.type,
      instructions: flags.instructions === undefined ? undefined : readInstructions(flags.instructions),
      workspace: flags.workspace,
      tools: tools && { ...(file['tools'] as object | undefined), ...tools },
      exec: exec && { ...(file['exec'] as object | undefined), ...exec },
      limits: limits && { ...(file['limits'] as object | undefined), ...limits },
    }),
  };
}

/** Without what was not given; undefined when nothing was. */
function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function readInstructions(value: string): string {
  return value.startsWith('@') ? readTextFile(value.slice(1)) : value;
}
