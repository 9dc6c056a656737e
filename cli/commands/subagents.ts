/** Implements `tempoclaw subagents`: it lists those that a session has started, shows one, and stops or steers it. */
import type { Command } from 'commander';
import { addApiCommand } from '#cli/api-commands.ts';
import { addAssignmentCommands } from '#cli/assignment-commands.ts';
import type { Subagent, SubagentSteerReceipt } from '#cli/wire.ts';

export function register(subagents: Command): void {
  addAssignmentCommands<Subagent>(subagents, {
    kind: 'subagents',
    list: {
      help: 'those that a session has started, newest first',
      path: '/v1/sessions/:session/subagents',
      flags: {
        status: {
          flags: '--status <status>',
          help: 'queued, running, completed, failed, cancelled or timeout',
        },
      },
      title: 'subagent',
      columns: [
        { title: 'label', cell: (one) => one.label, flexible: true },
        { title: 'calls', cell: (one) => one.iterations },
      ],
      nothing: 'No subagents.',
    },
    show: 'one with its result',
    stop: 'end one; its parent is told',
  });
  addApiCommand(subagents, {
    word: 'steer',
    help: 'end one and start it again with another message',
    method: 'POST',
    path: '/v1/subagents/:id/steer',
    arguments: ['message'],
    print: ({ out }, receipt: SubagentSteerReceipt) =>
      out.line(`${receipt.id} is replaced by ${receipt.replaced_by}`),
  });
}
