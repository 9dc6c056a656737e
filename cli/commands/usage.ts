/** Implements `tempoclaw usage`: which models were used, and what they cost. */
import type { Command } from 'commander';
import { addApiCommand } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printTable } from '#cli/output.ts';
import type { Usage } from '#cli/wire.ts';

type Row = Usage['data'][number];

export function register(command: Command): void {
  addApiCommand(command, {
    path: '/v1/usage',
    flags: {
      by: {
        flags: '--by <keys>',
        help: 'agent, session, model, day, kind, joined by commas',
        default: 'day',
      },
      from: { flags: '--from <date>', help: 'first day, UTC (30 days ago)' },
      to: { flags: '--to <date>', help: 'last day, UTC (today)' },
      agent: { flags: '--agent <key>', help: 'of this agent' },
      session: { flags: '--session <key>', help: 'of this session' },
      model: { flags: '--model <model>', help: 'of this model' },
    },
    print: printUsage,
  });
}

function printUsage({ out, err }: CommandContext, { data, from, to, truncated }: Usage): void {
  if (data.length === 0) return out.line(`No model was used from ${from} to ${to}.`);
  const keys = (['day', 'agent', 'session', 'model', 'kind'] as const).filter(
    (key) => data[0]?.[key] !== undefined,
  );
  printTable<Row>(
    out,
    [
      ...keys.map((key) => ({ title: key, cell: (row: Row) => row[key] })),
      { title: 'calls', cell: (row) => row.calls },
      { title: 'tokens in', cell: (row) => row.input_tokens },
      { title: 'cached', cell: (row) => row.cached_tokens },
      { title: 'tokens out', cell: (row) => row.output_tokens },
      { title: 'cost', cell: costOf },
    ],
    data,
  );
  if (truncated) err.line('There is more; ask for fewer days.');
}

function costOf({ cost_usd, calls, unpriced_calls }: Row): string {
  const known = cost_usd === null ? 'unknown' : `$${cost_usd.toFixed(4)}`;
  return unpriced_calls > 0 && unpriced_calls < calls ? `${known} + ${unpriced_calls} unpriced` : known;
}
