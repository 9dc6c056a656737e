/** Implements `tempoclaw usage`: which models were used, and what they cost. */
import type { Command } from 'commander';
import { usage as resource } from '#domain/resource/usage.ts';
import { addCommand } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printTable } from '#cli/output.ts';
import type { Usage } from '#cli/wire.ts';

type Row = Usage['data'][number];

export function register(command: Command): void {
  addCommand(command, resource, 'getUsage', { isParent: true, print: printUsage });
}

function printUsage({ out, err }: CommandContext, { data, from, to, truncated }: Usage): void {
  if (data.length === 0) return out.line(`No model was used from ${from} to ${to}.`);
  const keys = (['day', 'agent', 'user', 'session', 'model', 'kind'] as const).filter(
    (key) => data[0]?.[key] !== undefined,
  );
  printTable<Row>(
    out,
    {
      ...Object.fromEntries(keys.map((key) => [key, key])),
      calls: 'calls',
      'tokens in': 'input_tokens',
      cached: 'cached_tokens',
      'tokens out': 'output_tokens',
      cost: costOf,
    },
    data,
  );
  if (truncated) err.line('There is more; ask for fewer days.');
}

function costOf({ cost_usd, calls, unpriced_calls }: Row): string {
  const known = cost_usd === null ? 'unknown' : `$${cost_usd.toFixed(4)}`;
  return unpriced_calls > 0 && unpriced_calls < calls ? `${known} + ${unpriced_calls} unpriced` : known;
}
