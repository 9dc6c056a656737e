/** Shows a what-if to people, and to CI systems as JUnit's XML. */
import type { CommandContext } from '#cli/command-context.ts';
import { printTable } from '#cli/output.ts';
import { printable } from '#cli/text.ts';
import { differenceWords } from '../commands/test.ts';
import { junitOf } from '../junit.ts';
import type { Figures } from './figures.ts';
import { type Check, checkWords } from './gate.ts';
import type { Replayed } from './replay-session.ts';
import type { WhatIfReport } from './run.ts';

/** Sessions that are shown; `--json` has all. */
const SHOWN = 20;

interface Row {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly by: string;
}

export function printReport(
  { out, err, client }: CommandContext,
  report: WhatIfReport,
  checks: readonly Check[],
): void {
  const { sessions, changed, answers, left_out: leftOut } = report;
  printTable(out, { what: 'what', before: 'before', after: 'after', by: 'by' }, rowsOf(report));
  out.line(
    `${changed} of ${sessions.length} sessions differ in calls, verdicts or ends; ${answers} of ${report.after.turns} answers have other words.`,
  );
  const differing = sessions.filter(({ difference }) => difference);
  for (const one of differing.slice(0, SHOWN)) {
    out.line(printable(sessionWords(one)));
    if (one.compare) out.line(out.paint('dim', `  ${linkOf(client.target().url, one.compare)}`));
  }
  if (differing.length > SHOWN) out.line(`${differing.length - SHOWN} more: --json shows all.`);
  if (leftOut.length > 0) err.line(err.paint('yellow', `${leftOut.length} sessions have no result.`));
  for (const check of checks)
    out.line(
      `${check.exceeded === false ? out.paint('green', '✔') : out.paint('red', '✘')} ${checkWords(check)}`,
    );
}

export function sessionWords({ session, difference }: Replayed): string {
  return `${session}: ${difference ? differenceWords(difference) : 'as it was'}`;
}

/** Both runs side by side in the console. */
export function linkOf(url: string, { turn, other }: NonNullable<Replayed['compare']>): string {
  return `${url.replace(/\/$/, '')}/runs/${encodeURIComponent(turn)}/compare/${encodeURIComponent(other)}`;
}

const TITLES = {
  turns: 'turns',
  failed: 'turns failed',
  steps: 'steps',
  calls: 'calls',
  approvals: 'approvals',
  denied: 'denied',
  not_recorded: 'not recorded',
} as const satisfies Partial<Record<keyof Figures, string>>;

function rowsOf({ before, after, models }: WhatIfReport): readonly Row[] {
  const names = Object.keys(TITLES) as (keyof typeof TITLES)[];
  const tools = [...new Set([...Object.keys(before.tools), ...Object.keys(after.tools)])].toSorted();
  const used = models === 'called' ? after : { tokens: null, cost: null };
  return [
    ...names.map((name) => rowOf(TITLES[name], before[name], after[name])),
    ...tools.map((tool) => rowOf(`- ${tool}`, before.tools[tool] ?? 0, after.tools[tool] ?? 0)),
    rowOf('tokens', before.tokens, used.tokens),
    rowOf('usd', before.cost, used.cost, (value) => value.toFixed(4)),
  ];
}

function rowOf(
  what: string,
  before: number | null,
  after: number | null,
  show: (value: number) => string = String,
): Row {
  const text = (value: number | null): string => (value === null ? '–' : show(value));
  const rise = before === null || after === null ? 0 : after - before;
  const share = before ? ` (${rise > 0 ? '+' : ''}${((100 * rise) / before).toFixed(1)} %)` : '';
  const by = rise === 0 ? '' : `${rise > 0 ? '+' : ''}${show(rise)}${share}`;
  return { what: printable(what), before: text(before), after: text(after), by };
}

/** Each limit and each session is a test; a session fails when it has no result. */
export function junitReport({ sessions, left_out: leftOut }: WhatIfReport, checks: readonly Check[]): string {
  return junitOf('tempoclaw what-if', [
    ...checks.map((check) => ({
      name: check.limit,
      seconds: 0,
      failure: check.exceeded === false ? undefined : checkWords(check),
    })),
    ...sessions.map((one) => ({ name: sessionWords(one), seconds: 0 })),
    ...leftOut.map(({ session, why }) => ({ name: session, seconds: 0, failure: why })),
  ]);
}
