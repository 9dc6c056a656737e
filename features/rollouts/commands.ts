/** Implements `tempoclaw rollouts`: a rollout begins with the flags of `agents update`. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { readAgentChange } from '#cli/agent-fields.ts';
import { addCommands } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printTable } from '#cli/output.ts';
import { rollouts as resource } from './resource.ts';
import type { runsSchema } from './schema.ts';

type Runs = z.infer<typeof runsSchema>;
type Revision = Runs['revisions'][number];

interface Flags extends Readonly<Record<string, unknown>> {
  readonly agent: string;
  readonly revision?: number;
}

export function register(rollouts: Command): void {
  addCommands(rollouts, resource, {
    startRollout: {
      async sends(input: Flags, { client }) {
        const { agent, share, users, sessions, abort_when, reason, revision, ...flags } = input;
        const whom = { agent, share, users, sessions, abort_when, reason };
        if (revision !== undefined && Object.keys(flags).length === 0) return { ...whom, revision };
        return { ...whom, revision, change: await readAgentChange(client, agent, flags) };
      },
    },
    compareRuns: { print: printRuns },
  });
}

function printRuns({ out, err }: CommandContext, { revisions, since, partial }: Runs): void {
  if (revisions.length === 0) return err.line(`No turn since ${since}.`);
  printTable(
    out,
    {
      revision: 'revision',
      turns: 'turns',
      failed: ({ failed, turns }: Revision) => share(failed, turns),
      stopped: 'stopped',
      'steps (p95)': ({ steps }: Revision) => steps && `${steps.median} (${steps.p95})`,
      'seconds (p95)': ({ seconds }: Revision) =>
        seconds && `${seconds.median.toFixed(1)} (${seconds.p95.toFixed(1)})`,
      tokens: ({ input_tokens: read, output_tokens: written }: Revision) => read + written,
      usd: ({ cost_usd: usd }: Revision) => usd?.toFixed(4),
      'calls failed': ({ calls, calls_failed: failed }: Revision) => share(failed, calls),
      approvals: 'approvals',
      denied: 'approvals_denied',
    },
    revisions,
  );
  err.line(`since ${since}${partial ? ', of which only the newest turns were read' : ''}`);
  for (const [name, key] of [
    ['policy', 'policies'],
    ['tools or skills of the tenant', 'tools'],
  ] as const)
    if (revisions.some((one) => one[key] > 1))
      err.line(err.paint('yellow', `the ${name} changed meanwhile, which may explain a difference`));
}

function share(part: number, whole: number): string {
  return part === 0 || whole === 0 ? '0' : `${part} (${((100 * part) / whole).toFixed(1)} %)`;
}
