/** `tempoclaw delegations`: what agents gave to each other, and ending one that runs. */
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
import type { Delegation, DelegationDetail } from '#cli/wire.ts';

interface ListOptions extends PageOptions {
  readonly source?: string;
  readonly target?: string;
  readonly session?: string;
  readonly status?: string;
}

export function register(delegations: Command): void {
  withPageOptions(
    delegations
      .command('list', { isDefault: true })
      .description('newest first')
      .option('--source <agent>', 'that gave it')
      .option('--target <agent>', 'that works on it')
      .option('--session <key>', 'in which it was given')
      .option('--status <status>', 'queued, running, completed, failed, cancelled or timeout'),
  ).action(list);
  withApiOptions(
    delegations.command('show').description('one with its result and its gates').argument('<id>'),
  ).action(show);
  withApiOptions(
    delegations
      .command('stop')
      .description('end one; who gave the work is told')
      .argument('<id>')
      .option('--reason <text>', 'why'),
  ).action(stopWork('delegations'));
}

async function list(options: ListOptions): Promise<void> {
  const now = Date.now();
  const { source, target, session, status } = options;
  await printPage<Delegation>(
    createContext(options),
    pathOf('delegations'),
    { ...pageQuery(options), source, target, session_key: session, status },
    [
      { title: 'delegation', cell: (one) => one.id },
      { title: 'status', cell: (one) => one.status, style: (one) => statusStyle(one.status) },
      { title: 'from', cell: (one) => one.source },
      { title: 'to', cell: (one) => one.target },
      { title: 'label', cell: (one) => one.label, flexible: true },
      { title: 'started', cell: (one) => agoWords(one.created_at, now) },
    ],
    'No delegations.',
  );
}

async function show(id: string, options: ApiOptions): Promise<void> {
  const { client, out, json } = createContext(options);
  const delegation = await client.get<DelegationDetail>(pathOf('delegations', id));
  if (json) return printJson(out, delegation);
  const { result, error, links, usage, checks, warnings, ...fields } = delegation;
  printFields(out, {
    ...fields,
    error: error ? `${error.code}: ${error.message}` : undefined,
    tokens: `${usage.input_tokens} in, ${usage.output_tokens} out`,
    temporal: links.temporal,
  });
  for (const { gate, attempt, kind, feedback } of checks)
    out.line(printable(`gate ${gate}, attempt ${attempt + 1}: ${kind}${feedback ? `: ${feedback}` : ''}`));
  for (const warning of warnings) out.line(printable(warning));
  if (result) out.line(`\n${indent(printable(result))}`);
}
