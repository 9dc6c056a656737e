/** `tempoclaw subagents`: those that a session has started, one of them, and ending or steering it. */
import type { Command } from 'commander';
import { addShow, addStop, listOf } from '#cli/assignment-commands.ts';
import {
  type ApiOptions,
  createContext,
  type PageOptions,
  pathOf,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { printJson } from '#cli/output.ts';
import type { Subagent, SubagentSteerReceipt } from '#cli/wire.ts';

const list = listOf<Subagent>(
  'subagent',
  [
    { title: 'label', cell: (one) => one.label, flexible: true },
    { title: 'calls', cell: (one) => one.iterations },
  ],
  'No subagents.',
);

export function register(subagents: Command): void {
  withPageOptions(
    subagents
      .command('list')
      .description('those that a session has started, newest first')
      .argument('<session>')
      .option('--status <status>', 'queued, running, completed, failed, cancelled or timeout'),
  ).action((session: string, options: PageOptions & { readonly status?: string }) =>
    list(options, pathOf('sessions', session, 'subagents'), {}),
  );
  addShow<Subagent>(subagents, 'subagents', 'one with its result');
  addStop(subagents, 'subagents', 'end one; its parent is told');
  withApiOptions(
    subagents
      .command('steer')
      .description('end one and start it again with another message')
      .argument('<id>')
      .argument('<message>'),
  ).action(steer);
}

async function steer(id: string, message: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const receipt = await client.post<SubagentSteerReceipt>(pathOf('subagents', id, 'steer'), { message });
  if (json) return printJson(out, receipt);
  out.line(`${receipt.id} is replaced by ${receipt.replaced_by}`);
}
