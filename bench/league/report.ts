/** Writes the tables of docs/league.md from the results. The text around them is written by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digits } from '../report.ts';
import { drawPicture } from './picture.ts';
import { POINTS } from './points.ts';
import {
  type PointResults,
  type Results,
  RESULTS_FILE,
  type SideResults,
  totalOf,
  WORKER_POINTS,
} from './results.ts';
import { OUTCOMES, type Outcome } from './trial.ts';

export const DOCS = join(import.meta.dirname, '..', '..', 'docs');
export const PAGE = join(DOCS, 'league.md');
const PICTURE = join(DOCS, 'images', 'league.svg');
/** Between which lines of the page tables are. */
export interface Marks {
  readonly begin: string;
  readonly end: string;
}

const MARKS: Marks = {
  begin: '<!-- tables: bench/league/main.ts writes them -->',
  end: '<!-- end of the tables -->',
};

/** Heads of the columns, and words of the picture. */
export const TITLES: Readonly<Record<Outcome, string>> = {
  right: 'paid once',
  unknown: 'told that it is unknown',
  failed: 'failed with an error',
  late: 'not back in 2 minutes',
  doubled: '**paid twice**',
  lost: '**lost**',
};

export async function writeReport(results: Results): Promise<void> {
  await writeFile(RESULTS_FILE, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tablesOf(results)));
  await writeFile(PICTURE, drawPicture(results));
}

/** Throws when the page has no place for the tables. */
export function withTables(page: string, tables: string, { begin, end }: Marks = MARKS): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/league.md has no place for tables: ${begin} and ${end}.`);
  return `${page.slice(0, from + begin.length)}\n\n${tables}\n${page.slice(to)}`;
}

export function tablesOf({ machine, sides }: Results): string {
  return [
    `Measured with ${machine}.`,
    '',
    '### All kills of the worker',
    '',
    table(
      ['', 'n', ...OUTCOMES.map((one) => TITLES[one]), 'seconds back', 'of these its start'],
      sides.map((side) => {
        const { n, counts } = totalOf(side, WORKER_POINTS);
        return [side.title, String(n), ...OUTCOMES.map((one) => String(counts[one])), ...secondsOf(side)];
      }),
    ),
    '### By point',
    '',
    table(
      ['', ...sides.map(({ title }) => title)],
      POINTS.map(({ id }) => [`\`${id}\``, ...sides.map((side) => cellOf(side.points[id]))]),
    ),
    '### Without a kill',
    '',
    table(
      ['', 'ms a step', 'turns a second', 'MB of its processes', 'MB of its servers'],
      sides.flatMap(({ title, pace }) =>
        pace
          ? [
              [
                title,
                digits(pace.stepMs),
                digits(pace.turnsPerSecond),
                pace.memoryMb.toFixed(0),
                pace.serversMb.toFixed(0),
              ],
            ]
          : [],
      ),
    ),
    '### Versions',
    '',
    table(
      ['', 'packages', 'its program follows'],
      sides.map(({ title, versions, page }) => [
        title,
        versions,
        page.startsWith('https:') ? `<${page}>` : `[${page}](${page.replace('docs/', '')})`,
      ]),
    ),
  ].join('\n');
}

/** Seconds until turns were back, and until the side had started, as the least and the most of the points. */
function secondsOf({ points }: SideResults): readonly [string, string] {
  const found = WORKER_POINTS.flatMap((id) => points[id] ?? []);
  const back = found.flatMap(({ seconds }) => seconds?.median ?? []);
  return [rangeOf(back), rangeOf(found.map(({ startSeconds }) => startSeconds))];
}

function rangeOf(values: readonly number[]): string {
  if (values.length === 0) return '–';
  return `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
}

function cellOf(point: PointResults | undefined): string {
  if (!point) return '';
  const { n, counts, seconds } = point;
  const parts = OUTCOMES.filter((one) => counts[one]).map((one) => `${counts[one]} ${TITLES[one]}`);
  return `${parts.join(', ')} of ${n}${seconds ? `; ${seconds.median.toFixed(1)} s` : ''}`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line), ''].join('\n');
}
