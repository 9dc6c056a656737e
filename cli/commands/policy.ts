/** `tempoclaw policy`: the tenant's own, and trying changed rules on the calls of the last days. */
import type { Command } from 'commander';
import { loadConfig } from '#config';
import type { backtestReportSchema, policyChangeSchema } from '#domain/schema/policy.ts';
import { usageError } from '#cli/cli-error.ts';
import {
  type ApiOptions,
  createContext,
  pageQuery,
  type PageOptions,
  pathOf,
  printPage,
  withApiOptions,
  withPageOptions,
} from '#cli/command-context.ts';
import { printFields, printJson, printTable, type Style } from '#cli/output.ts';
import { readObjectFile } from '#cli/object-file.ts';
import type { z } from 'zod';

type Report = z.infer<typeof backtestReportSchema>;
type Change = z.infer<typeof policyChangeSchema>;

interface BacktestOptions extends ApiOptions {
  readonly days: string;
  readonly config: string;
  readonly limit: string;
  readonly after?: string;
}

export function register(policy: Command): void {
  withApiOptions(
    policy.command('show', { isDefault: true }).description('what holds for all agents of the tenant'),
  ).action(show);
  withApiOptions(
    policy
      .command('set')
      .description('replace it by a file with tools and exec')
      .argument('<file>', 'YAML or JSON; - is a pipe'),
  ).action(set);
  withPageOptions(policy.command('history').description('who changed it when, newest first')).action(history);
  withApiOptions(
    policy.command('restore').description('put it back as it was before a change').argument('<change>'),
  ).action(restore);
  withApiOptions(
    policy
      .command('backtest')
      .description('how the calls of the last days would be judged by other settings; nothing is run')
      .requiredOption('--config <file>', 'settings to try: tools and exec of a tempoclaw.yaml')
      .option('--days <n>', 'days to look back, 1 to 90', '7')
      .option('--limit <n>', 'differing calls to show, 1 to 200', '50')
      .option('--after <cursor>', 'go on after the page whose next_cursor this is'),
  ).action(backtest);
}

async function show(options: ApiOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { warnings = [], ...policy } = await client.get<{ warnings?: string[] }>(pathOf('policy'));
  if (json) return printJson(out, { ...policy, warnings });
  if (Object.keys(policy).length === 0) err.line('The tenant sets no policy.');
  else printFields(out, policy);
  for (const warning of warnings) err.line(err.paint('yellow', warning));
}

async function set(file: string, options: ApiOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { warnings, ...policy } = await client.put<{ warnings: string[] }>(
    pathOf('policy'),
    readObjectFile(file, 'a policy such as {"tools":{"deny":["exec"]}}'),
  );
  if (json) return printJson(out, { ...policy, warnings });
  err.line(`${err.paint('green', '✔')} holds from the next judged call on`);
  for (const warning of warnings) err.line(err.paint('yellow', warning));
}

async function history(options: PageOptions): Promise<void> {
  await printPage<Change>(
    createContext(options),
    pathOf('policy', 'history'),
    pageQuery(options),
    [
      { title: 'change', cell: (one) => one.id },
      { title: 'when', cell: (one) => one.changed_at },
      { title: 'by', cell: (one) => one.changed_by },
      { title: 'to', cell: (one) => JSON.stringify(one.to), flexible: true },
    ],
    'Nobody has changed the policy.',
  );
}

async function restore(change: string, options: ApiOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { warnings, ...policy } = await client.post<{ warnings: string[] }>(pathOf('policy', 'restore'), {
    change,
  });
  if (json) return printJson(out, { ...policy, warnings });
  err.line(`${err.paint('green', '✔')} it is again as it was before change ${change}`);
  for (const warning of warnings) err.line(err.paint('yellow', warning));
}

async function backtest(options: BacktestOptions): Promise<void> {
  const { client, out, err, json } = createContext(options);
  const { tools, exec } = loadConfig({ flags: { config: options.config } });
  const { rate_limit_per_hour: _limit, ...policy } = tools;
  const report = await client.post<Report>(pathOf('policy', 'backtest'), {
    days: numberOf(options.days, '--days'),
    limit: numberOf(options.limit, '--limit'),
    settings: { tools: policy, exec },
    after: options.after,
  });
  if (json) return printJson(out, report);
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
  err.line(wordsOf(report));
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
  if (report.has_more) err.line(err.paint('dim', `more: --after ${report.next_cursor ?? ''}`));
}

const COLOURS: Readonly<Record<'allow' | 'ask' | 'deny', Style>> = {
  allow: 'green',
  ask: 'yellow',
  deny: 'red',
};

function wordsOf({ calls, differ, unreadable, truncated, since }: Report): string {
  const left = unreadable === 0 ? '' : `; ${unreadable} cannot be judged any more`;
  const more = truncated ? ' (the newest; there are more)' : '';
  return `${differ} of ${calls} calls${more} since ${since.slice(0, 10)} would be judged otherwise${left}.`;
}

function numberOf(text: string, flag: string): number {
  if (!/^\d{1,4}$/.test(text)) throw usageError(`${flag} must be a number, not ${text}`);
  return Number(text);
}
