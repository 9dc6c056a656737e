/** Implements `tempoclaw policy backtest` and `policy proposals`: trying rules on recorded calls, and rules they suggest. */
import type { Command } from 'commander';
import type { z } from 'zod';
import { addCommands, printNext } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printTable, type Style } from '#cli/output.ts';
import { loadConfig } from '#config';
import { toolPolicyOf } from '#domain/policy/settings-tools.ts';
import { backtests } from '../resource/backtest.ts';
import { ruleProposals } from '../resource/rule-proposals.ts';
import type { backtestReportSchema } from '../schema/backtest.ts';

type Report = z.infer<typeof backtestReportSchema>;

export function register(policy: Command): void {
  addCommands(policy.command('proposals').description('rules that decisions suggest'), ruleProposals);
  addCommands(policy, backtests, {
    backtestPolicy: {
      sends({ config, ...flags }: { readonly config: string }) {
        const { tools, exec } = loadConfig({ flags: { config } });
        return { ...flags, settings: { tools: toolPolicyOf(tools), exec } };
      },
      print: printReport,
    },
  });
}

function printReport(context: CommandContext, report: Report): void {
  const { out, err } = context;
  const row = (name: string, counts: Report['before']) => ({ name, ...counts });
  printTable(out, { calls: 'name', allowed: 'allow', asked: 'ask', denied: 'deny' }, [
    row('as it was', report.before),
    row('as it would be', report.after),
  ]);
  err.line(reportText(report));
  if (report.data.length === 0) return;
  printTable(
    out,
    {
      call: 'call_id',
      agent: 'agent',
      was: 'before',
      'would be': { cell: 'after', style: (one) => COLOURS[one.after] },
      by: (one) => (one.rule === null ? one.step : `${one.step} (${one.rule})`),
      what: { flexible: 'summary' },
    },
    report.data,
  );
  printNext(context, report);
}

const COLOURS: Readonly<Record<'allow' | 'ask' | 'deny', Style>> = {
  allow: 'green',
  ask: 'yellow',
  deny: 'red',
};

function reportText({ calls, differ, unreadable, truncated, since }: Report): string {
  const remaining = unreadable === 0 ? '' : `; ${unreadable} cannot be judged any more`;
  const more = truncated ? ' (the newest; there are more)' : '';
  return `${differ} of ${calls} calls${more} since ${since.slice(0, 10)} would be judged otherwise${remaining}.`;
}
