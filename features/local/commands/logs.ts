/**
 * Implements `tempoclaw logs`: what the parts that `up` started have logged; formatted for people by default, unchanged
 * with --json.
 */
import { type Command, Argument } from 'commander';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadConfig } from '#config';
import { clientEnvironment } from '#config/client-environment.ts';
import { CliError } from '#cli/cli-error.ts';
import { wholeNumber } from '#cli/command-context.ts';
import { createOutput, type Output, type Style } from '#cli/output.ts';
import { followLog, readLogTail } from '@tempoclaw/dev-services/processes';
import { findRunFile } from '#cli/target.ts';
import { printable } from '#cli/text.ts';

const PARTS = ['api', 'worker', 'temporal', 'postgres'] as const;

export function register(command: Command): void {
  command
    .addArgument(new Argument('[part]', 'whose log (default: all, in order of time)').choices(PARTS))
    .option('-f, --follow', 'go on with what is written, until Ctrl-C')
    .option('-n, --lines <n>', 'lines of each part to begin with, 0 to 10000', wholeNumber(0, 10_000), 50)
    .option('--json', 'print the lines as they are')
    .action(logs);
}

async function logs(
  wished: string | undefined,
  options: {
    readonly stateDir?: string;
    readonly lines: number;
    readonly follow?: boolean;
    readonly json?: boolean;
  },
): Promise<void> {
  const run = findRunFile(options.stateDir ?? clientEnvironment().stateDir, process.cwd());
  const { stateDir } = options;
  const folder = join(run ? dirname(run.path) : loadConfig({ flags: { stateDir } }).stateDir, 'logs');
  const parts = wished === undefined ? PARTS : [wished];
  if (!existsSync(folder))
    throw new CliError(`There are no logs in ${folder}.`, {
      code: 'NotRunning',
      remedy: 'They are made by `npm start`; elsewhere a process writes to its standard output.',
    });
  const out = createOutput(process.stdout);
  const show = (part: string, line: string): void =>
    out.line(options.json ? line : logLineText(out, wished === undefined ? part : undefined, line));
  const tails = parts.map((part) => {
    const file = join(folder, `${part}.log`);
    return { part, file, ...readLogTail(file, options.lines) };
  });
  const lines = tails.flatMap(({ part, lines: own }) => {
    // A line without a time belongs to the one above it.
    let at = 0;
    return own.map((line) => ({ part, line, at: (at = timeOf(line) ?? at) }));
  });
  for (const { part, line } of lines.toSorted((a, b) => a.at - b.at)) show(part, line);
  if (!options.follow) return;
  await Promise.all(
    tails.map(async ({ part, file, end }) => {
      for await (const line of followLog(file, end)) show(part, line);
    }),
  );
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Fields;
  } catch {
    // A line that was cut off is printed as it is.
    return undefined;
  }
}

/** Milliseconds from our own JSON, from Temporal's, or from the beginning of Postgres' text. */
function timeOf(line: string): number | undefined {
  const fields = fieldsOf(line);
  const time = fields?.['time'] ?? fields?.['ts'];
  if (typeof time === 'number') return time;
  const text =
    typeof time === 'string' ? time : /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [A-Z]+/.exec(line)?.[0];
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Pino's numbers; Temporal and Postgres write words. */
const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};
const STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };
const NOT_SHOWN = new Set(['time', 'ts', 'level', 'msg', 'part', 'pid', 'hostname', 'logging-call-at']);

function logLineText(out: Output, part: string | undefined, line: string): string {
  const fields = fieldsOf(line);
  const name = part === undefined ? '' : `${out.paint('cyan', part.padEnd(8))} `;
  if (fields === undefined) return name + printable(line);
  const level = LEVELS[Number(fields['level'])] ?? String(fields['level'] ?? '');
  const at = timeOf(line);
  const time = at === undefined ? '' : new Date(at).toISOString().slice(11, 23);
  const rest = Object.entries(fields)
    .filter(([key]) => !NOT_SHOWN.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
  const shown = level === '' ? '' : `${out.paint(STYLES[level] ?? 'dim', level.padEnd(5))} `;
  return `${name}${out.paint('dim', time)} ${shown}${printable(String(fields['msg'] ?? ''))} ${out.paint('dim', printable(rest))}`.trimEnd();
}
