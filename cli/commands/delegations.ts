/** `tempoclaw delegations`: what agents gave to each other, and ending one that runs. */
import type { Command } from 'commander';
import { addShow, addStop, listOf } from '#cli/assignment-commands.ts';
import { type PageOptions, pathOf, withPageOptions } from '#cli/command-context.ts';
import type { Output } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import type { Delegation, DelegationDetail } from '#cli/wire.ts';

interface ListOptions extends PageOptions {
  readonly source?: string;
  readonly target?: string;
  readonly session?: string;
  readonly status?: string;
}

const list = listOf<Delegation>(
  'delegation',
  [
    { title: 'from', cell: (one) => one.source },
    { title: 'to', cell: (one) => one.target },
    { title: 'label', cell: (one) => one.label, flexible: true },
  ],
  'No delegations.',
);

export function register(delegations: Command): void {
  withPageOptions(
    delegations
      .command('list', { isDefault: true })
      .description('newest first')
      .option('--source <agent>', 'that gave it')
      .option('--target <agent>', 'that works on it')
      .option('--session <key>', 'in which it was given')
      .option('--status <status>', 'queued, running, completed, failed, cancelled or timeout'),
  ).action((options: ListOptions) => {
    const { source, target, session } = options;
    return list(options, pathOf('delegations'), { source, target, session_key: session });
  });
  addShow<DelegationDetail>(
    delegations,
    'delegations',
    'one with its result and its gates',
    ['checks', 'warnings'],
    printGates,
  );
  addStop(delegations, 'delegations', 'end one; who gave the work is told');
}

function printGates(out: Output, { checks, warnings }: DelegationDetail): void {
  for (const { gate, attempt, kind, feedback } of checks)
    out.line(printable(`gate ${gate}, attempt ${attempt + 1}: ${kind}${feedback ? `: ${feedback}` : ''}`));
  for (const warning of warnings) out.line(printable(warning));
}
