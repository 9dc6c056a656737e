/** `tempoclaw usage`: what models were used, and what they cost. */
import type { Command } from 'commander';
import { type ApiOptions, createContext, pathOf } from '#cli/command-context.ts';
import { printJson, printTable } from '#cli/output.ts';
import type { Usage } from '#cli/wire.ts';

interface UsageOptions extends ApiOptions {
  readonly by: string;
  readonly from?: string;
  readonly to?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly model?: string;
}

export function register(command: Command): void {
  command
    .option('--by <keys>', 'agent, session, model, day, kind, joined by commas', 'day')
    .option('--from <date>', 'first day, UTC (30 days ago)')
    .option('--to <date>', 'last day, UTC (today)')
    .option('--agent <key>', 'of this agent')
    .option('--session <key>', 'of this session')
    .option('--model <model>', 'of this model')
    .action(usage);
}

async function usage(options: UsageOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { by, from, to, agent, session, model } = options;
  const answer = await client.get<Usage>(pathOf('usage'), { by, from, to, agent, session, model });
  if (json) return printJson(out, answer);
  if (answer.data.length === 0) return out.line(`No model was used from ${answer.from} to ${answer.to}.`);
  const keys = (['day', 'agent', 'session', 'model', 'kind'] as const).filter(
    (key) => answer.data[0]?.[key] !== undefined,
  );
  printTable(
    out,
    [
      ...keys.map((key) => ({ title: key, cell: (row: Usage['data'][number]) => row[key] ?? '' })),
      { title: 'calls', cell: (row) => String(row.calls) },
      { title: 'tokens in', cell: (row) => String(row.input_tokens) },
      { title: 'cached', cell: (row) => String(row.cached_tokens) },
      { title: 'tokens out', cell: (row) => String(row.output_tokens) },
      { title: 'cost', cell: costOf },
    ],
    answer.data,
  );
  if (answer.truncated) err.line('There is more; ask for fewer days.');
}

function costOf({ cost_usd, calls, unpriced_calls }: Usage['data'][number]): string {
  const known = cost_usd === null ? 'unknown' : `$${cost_usd.toFixed(4)}`;
  return unpriced_calls > 0 && unpriced_calls < calls ? `${known} + ${unpriced_calls} unpriced` : known;
}
