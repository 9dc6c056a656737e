/** Implements `tempoclaw agents`: shows agents as in a file, and makes them from flags or a YAML or JSON file. */
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { agents as resource } from '#domain/resource/agents.ts';
import { type AgentFlags, readAgent, readAgentChange } from '#cli/agent-fields.ts';
import { addCommands } from '#cli/api-commands.ts';
import { usageError } from '#cli/cli-error.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printFields } from '#cli/output.ts';
import { agoWords } from '#cli/text.ts';
import type { Agent } from '#cli/wire.ts';

export function register(agents: Command): void {
  addCommands(agents, resource, {
    getAgent: { print: printAgent },
    createAgent: {
      sends({ key, ...flags }: AgentFlags & { readonly key?: string }) {
        const agent = readAgent(flags);
        const wished: unknown = key ?? agent['key'];
        if (typeof wished === 'string') return { ...agent, key: wished };
        throw usageError('The agent has no key.', 'Write: npx tempoclaw agents create KEY --model …');
      },
      print: printAgent,
    },
    updateAgent: {
      sends: ({ key, ...flags }: AgentFlags & { readonly key: string }, { client }) =>
        readAgentChange(client, key, flags),
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
