/** Reads an agent from flags and a YAML or JSON file, whole or as a change of one that is there. */
import { agents } from '#domain/resource/agents.ts';
import { call } from './call.ts';
import { usageError } from './cli-error.ts';
import type { CommandContext } from './command-context.ts';
import { readObjectFile, readTextFile } from './object-file.ts';

type Fields = Record<string, unknown>;
/** `file` names the file; the others are those of `agentFlags`. */
export type AgentFlags = Fields & { readonly file?: string | undefined };

const EXAMPLE = 'one agent, such as:\nkey: helper\nmodel: openai/gpt-4.1-mini';

/** Merges the flags' fields over the file's. Groups that the file does not have begin with the values of `old`. */
export function readAgent({ file, ...flags }: AgentFlags, old: Fields = {}): Fields {
  const agent: Fields = file === undefined ? {} : readObjectFile(file, EXAMPLE);
  for (const [name, value] of Object.entries(flags)) {
    const [field = name, inner] = name.split('.');
    const group = agent[field] ?? old[field];
    agent[field] = inner === undefined ? readField(name, value) : { ...(group as Fields), [inner]: value };
  }
  return agent;
}

/** The fields that change. @throws CliError when the flags name none, or another agent */
export async function readAgentChange(
  client: CommandContext['client'],
  key: string,
  flags: AgentFlags,
): Promise<Fields> {
  // A flag changes one part of a group such as `tools`; the API replaces the whole group.
  const isWhole = flags.file !== undefined || Object.keys(flags).length === 0;
  const old = isWhole ? {} : await call(client, agents.operations.getAgent, { params: { key } });
  const { key: named, ...changes } = readAgent(flags, old);
  if (named !== undefined && named !== key)
    throw usageError(`The file is about agent ${String(named)}, not ${key}.`);
  if (Object.keys(changes).length === 0)
    throw usageError('Nothing to change was given.', 'See: npx tempoclaw agents update --help');
  return changes;
}

function readField(name: string, value: unknown): unknown {
  if (name === 'instructions' && typeof value === 'string' && value.startsWith('@'))
    return readTextFile(value.slice(1));
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}
