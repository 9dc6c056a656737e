/** Implements `tempoclaw delegations`: it lists what agents delegated to each other, and stops one that runs. */
import type { Command } from 'commander';
import { addAssignmentCommands } from '#cli/assignment-commands.ts';
import { printable } from '#cli/text.ts';
import type { Delegation, DelegationDetail } from '#cli/wire.ts';

export function register(delegations: Command): void {
  addAssignmentCommands<Delegation, DelegationDetail>(delegations, {
    kind: 'delegations',
    list: {
      help: 'newest first',
      path: '/v1/delegations',
      flags: {
        source: { flags: '--source <agent>', help: 'that gave it' },
        target: { flags: '--target <agent>', help: 'that works on it' },
        session_key: { flags: '--session <key>', help: 'in which it was given' },
        status: {
          flags: '--status <status>',
          help: 'queued, running, completed, failed, cancelled or timeout',
        },
      },
      title: 'delegation',
      columns: [
        { title: 'from', cell: (one) => one.source },
        { title: 'to', cell: (one) => one.target },
        { title: 'label', cell: (one) => one.label, flexible: true },
      ],
      nothing: 'No delegations.',
    },
    show: 'one with its result and its gates',
    hidden: ['checks', 'warnings'],
    more(out, { checks, warnings }) {
      for (const { gate, attempt, kind, feedback } of checks)
        out.line(
          printable(`gate ${gate}, attempt ${attempt + 1}: ${kind}${feedback ? `: ${feedback}` : ''}`),
        );
      for (const warning of warnings) out.line(printable(warning));
    },
    stop: 'end one; who gave the work is told',
  });
}
