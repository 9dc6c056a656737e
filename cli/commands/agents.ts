/** Implements `tempoclaw agents`: shows agents as in a file, and makes them from flags or a YAML or JSON file. */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { agents as resource } from '#domain/resource/agents.ts';
import { addCommands } from '#cli/api-commands.ts';
import { call } from '#cli/call.ts';
import { usageError } from '#cli/cli-error.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { readObjectFile, readTextFile } from '#cli/object-file.ts';
import { printFields } from '#cli/output.ts';
import { agoWords } from '#cli/text.ts';
import type { Agent } from '#cli/wire.ts';

type Fields = Record<string, unknown>;
type Flags = Fields & { readonly file?: string | undefined };

export function register(agents: Command): void {
  addCommands(agents, resource, {
    getAgent: { print: printAgent },
    createAgent: {
      sends({ key, ...flags }: Flags & { readonly key?: string }) {
        const agent = readAgent(flags);
        const wished: unknown = key ?? agent['key'];
        if (typeof wished === 'string') return { ...agent, key: wished };
        throw usageError('The agent has no key.', 'Write: npx tempoclaw agents create KEY --model …');
      },
      print: printAgent,
    },
    updateAgent: {
      async sends({ key, ...flags }: Flags & { readonly key: string }, { client }) {
        // A flag changes one part of a group such as `tools`; the API replaces the whole group.
        const isWhole = flags.file !== undefined || Object.keys(flags).length === 0;
        const old = isWhole ? {} : await call(client, resource.operations.getAgent, { params: { key } });
        const { key: named, ...changes } = readAgent(flags, old);
        if (named !== undefined && named !== key)
          throw usageError(`The file is about agent ${String(named)}, not ${key}.`);
        if (Object.keys(changes).length === 0)
          throw usageError('Nothing to change was given.', 'See: npx tempoclaw agents update --help');
        return changes;
      },
      print: printAgent,
    },
  });
}

function printAgent({ out, err }: CommandContext, agent: Agent): void {
  const now = Date.now();
  const {
    key,
    name,
    description,
    type,
    model,
    revision,
    created_at,
    updated_at,
    instructions,
    warnings = [],
    ...rest
  } = agent;
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
  for (const warning of warnings) err.line(err.paint('yellow', warning));
  out.line(`\n${out.paint('dim', `talk to it: npx tempoclaw chat --agent ${key}`)}`);
}

/** Formats the agent as a file for `--file`. */
function asYaml(value: unknown): unknown {
  return typeof value === 'object' ? stringify(value).trim() : value;
}

const EXAMPLE = 'one agent, such as:\nkey: helper\nmodel: openai/gpt-4.1-mini';

/** Merges the flags' fields over the file's. Groups that the file does not have begin with the values of `old`. */
function readAgent({ file, ...flags }: Flags, old: Fields = {}): Fields {
  const agent: Fields = file === undefined ? {} : readObjectFile(file, EXAMPLE);
  for (const [name, value] of Object.entries(flags)) {
    const [field = name, inner] = name.split('.');
    const group = agent[field] ?? old[field];
    agent[field] = inner === undefined ? readField(name, value) : { ...(group as Fields), [inner]: value };
  }
  return agent;
}

function readField(name: string, value: unknown): unknown {
  if (name === 'instructions' && typeof value === 'string' && value.startsWith('@'))
    return readTextFile(value.slice(1));
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}
