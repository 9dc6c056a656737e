/**
 * Implements `tempoclaw policy`: it shows the tenant's policy, tries changed rules on the calls of the last days, and
 * lists rules that decisions suggest.
 */
import { toolPolicyOf } from '#domain/policy/settings-tools.ts';
import type { Command } from 'commander';
import { loadConfig } from '#config';
import type { backtestReportSchema } from '#domain/schema/policy.ts';
import { policy as resource } from '#domain/resource/policy.ts';
import { ruleProposals } from '#domain/resource/rule-proposals.ts';
import { addCommands, printNext } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printFields, printTable, type Style } from '#cli/output.ts';
import type { z } from 'zod';

type Report = z.infer<typeof backtestReportSchema>;

export function register(policy: Command): void {
  addCommands(policy.command('proposals').description('rules that decisions suggest'), ruleProposals);
  addCommands(policy, resource, {
    getPolicy: {
      print(context, { warnings, ...fields }) {
        if (Object.keys(fields).length === 0) context.err.line('The tenant sets no policy.');
        else printFields(context.out, fields);
        warn(context, warnings);
      },
    },
    setPolicy: {
      print: (context, { warnings }) => warn(context, warnings, 'holds from the next judged call on'),
    },
    restorePolicy: {
      print: (context, { warnings }, { change }: { readonly change: string }) =>
        warn(context, warnings, `it is again as it was before change ${change}`),
    },
    backtestPolicy: {
      sends({ config, ...flags }: { readonly config: string }) {
        const { tools, exec } = loadConfig({ flags: { config } });
        return { ...flags, settings: { tools: toolPolicyOf(tools), exec } };
      },
      print: printReport,
    },
  });
}

function warn({ err }: CommandContext, warnings: readonly string[] = [], done?: string): void {
  if (done !== undefined) err.line(`${err.paint('green', '✔')} ${done}`);
  for (const warning of warnings) err.line(err.paint('yellow', warning));
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
