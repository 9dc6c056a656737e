/**
 * Implements `tempoclaw policy`: it shows the tenant's policy, tries changed rules on the calls of the last days, and
 * lists rules that decisions suggest.
 */
import { toolPolicyOf } from '#domain/policy/settings-tools.ts';
import type { Command } from 'commander';
import { loadConfig } from '#config';
import type { backtestReportSchema, policyChangeSchema } from '#domain/schema/policy.ts';
import { addApiCommand, addList, PAGE_FLAGS, printNext } from '#cli/api-commands.ts';
import type { CommandContext } from '#cli/command-context.ts';
import { printFields, printTable, type Style } from '#cli/output.ts';
import { ruleProposals } from '#domain/resource/rule-proposals.ts';
import { readObjectFile } from '#cli/object-file.ts';
import { addCommands } from '#cli/resource-commands.ts';
import type { z } from 'zod';

type Report = z.infer<typeof backtestReportSchema>;
type Change = z.infer<typeof policyChangeSchema>;

interface Policy {
  readonly warnings?: readonly string[];
}

export function register(policy: Command): void {
  addCommands(policy.command('proposals').description('rules that decisions suggest'), ruleProposals);
  addApiCommand(policy, {
    word: 'show',
    isDefault: true,
    help: 'what holds for all agents of the tenant',
    path: '/v1/policy',
    print(context, { warnings, ...fields }: Policy) {
      if (Object.keys(fields).length === 0) context.err.line('The tenant sets no policy.');
      else printFields(context.out, fields);
      warn(context, warnings);
    },
  });
  addApiCommand(policy, {
    word: 'set',
    help: 'replace it by a file with tools and exec: YAML or JSON; - is a pipe',
    method: 'PUT',
    path: '/v1/policy',
    arguments: ['file'],
    sends: ({ file }) => readObjectFile(file, 'a policy such as {"tools":{"deny":["exec"]}}'),
    print: (context, { warnings }: Policy) => warn(context, warnings, 'holds from the next judged call on'),
  });
  addList<Change>(policy, {
    word: 'history',
    help: 'who changed it when, newest first',
    path: '/v1/policy/history',
    columns: [
      { title: 'change', cell: (one) => one.id },
      { title: 'when', cell: (one) => one.changed_at },
      { title: 'by', cell: (one) => one.changed_by },
      { title: 'to', cell: (one) => JSON.stringify(one.to), flexible: true },
    ],
    nothing: 'Nobody has changed the policy.',
  });
  addApiCommand(policy, {
    word: 'restore',
    help: 'put it back as it was before a change',
    method: 'POST',
    path: '/v1/policy/restore',
    arguments: ['change'],
    print: (context, { warnings }: Policy, { change }) =>
      warn(context, warnings, `it is again as it was before change ${change}`),
  });
  addApiCommand(policy, {
    word: 'backtest',
    help: 'how the calls of the last days would be judged by other settings; nothing is run',
    method: 'POST',
    path: '/v1/policy/backtest',
    flags: {
      config: {
        flags: '--config <file>',
        help: 'settings to try: tools and exec of a tempoclaw.yaml',
        required: true,
      },
      days: { flags: '--days <n>', help: 'days to look back, 1 to 90', bounds: [1, 90], default: 7 },
      limit: { ...PAGE_FLAGS.limit, help: 'differing calls to show, 1 to 200' },
      after: PAGE_FLAGS.after,
    },
    sends({ config, ...flags }) {
      const { tools, exec } = loadConfig({ flags: { config } });
      return { ...flags, settings: { tools: toolPolicyOf(tools), exec } };
    },
    print: printReport,
  });
}

function warn({ err }: CommandContext, warnings: readonly string[] = [], done?: string): void {
  if (done !== undefined) err.line(`${err.paint('green', '✔')} ${done}`);
  for (const warning of warnings) err.line(err.paint('yellow', warning));
}

function printReport(context: CommandContext, report: Report): void {
  const { out, err } = context;
  const row = (name: string, counts: Report['before']) => ({ name, ...counts });
  printTable(
    out,
    [
      { title: 'calls', cell: (one) => one.name },
      { title: 'allowed', cell: (one) => one.allow },
      { title: 'asked', cell: (one) => one.ask },
      { title: 'denied', cell: (one) => one.deny },
    ],
    [row('as it was', report.before), row('as it would be', report.after)],
  );
  err.line(reportText(report));
  if (report.data.length === 0) return;
  printTable(
    out,
    [
      { title: 'call', cell: (one) => one.call_id },
      { title: 'agent', cell: (one) => one.agent },
      { title: 'was', cell: (one) => one.before },
      { title: 'would be', cell: (one) => one.after, style: (one) => COLOURS[one.after] },
      { title: 'by', cell: (one) => (one.rule === null ? one.step : `${one.step} (${one.rule})`) },
      { title: 'what', cell: (one) => one.summary, flexible: true },
    ],
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
