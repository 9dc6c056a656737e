/** `tempoclaw subagents`: those that a session has started, one of them, and ending or steering it. */
import type { Command } from 'commander';
import {
  type ApiOptions,
  createContext,
  type PageOptions,
  pageQuery,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { indent, printFields, printJson, statusStyle } from '#cli/output.ts';
import { stopWork } from '#cli/stop-work.ts';
import { agoWords, printable } from '#cli/text.ts';
import type { Subagent, SubagentSteerReceipt } from '#cli/wire.ts';

export function register(subagents: Command): void {
  withPageOptions(
    subagents
      .command('list')
      .description('those that a session has started, newest first')
      .argument('<session>')
      .option('--status <status>', 'queued, running, completed, failed, cancelled or timeout'),
  ).action(list);
  withApiOptions(subagents.command('show').description('one with its result').argument('<id>')).action(show);
  withApiOptions(
    subagents
      .command('stop')
      .description('end one; its parent is told')
      .argument('<id>')
      .option('--reason <text>', 'why'),
  ).action(stopWork('subagents'));
  withApiOptions(
    subagents
      .command('steer')
      .description('end one and start it again with another message')
      .argument('<id>')
      .argument('<message>'),
  ).action(steer);
}

async function list(session: string, options: PageOptions & { readonly status?: string }): Promise<void> {
  const now = Date.now();
  await printPage<Subagent>(
    createContext(options),
    pathOf('sessions', session, 'subagents'),
    { ...pageQuery(options), status: options.status },
    [
      { title: 'subagent', cell: (one) => one.id },
      { title: 'status', cell: (one) => one.status, style: (one) => statusStyle(one.status) },
      { title: 'label', cell: (one) => one.label, flexible: true },
      { title: 'calls', cell: (one) => one.iterations },
      { title: 'started', cell: (one) => agoWords(one.created_at, now) },
    ],
    'No subagents.',
  );
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const subagent = await client.get<Subagent>(pathOf('subagents', id));
  if (json) return printJson(out, subagent);
  const { result, error, links, usage, ...fields } = subagent;
  printFields(out, {
    ...fields,
    error: error ? `${error.code}: ${error.message}` : undefined,
    tokens: `${usage.input_tokens} in, ${usage.output_tokens} out`,
    temporal: links.temporal,
  });
  if (result) out.line(`\n${indent(printable(result))}`);
}

async function steer(id: string, message: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const receipt = await client.post<SubagentSteerReceipt>(pathOf('subagents', id, 'steer'), { message });
  if (json) return printJson(out, receipt);
  out.line(`${receipt.id} is replaced by ${receipt.replaced_by}`);
}
