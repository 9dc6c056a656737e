/** Prints results: tables and fields for people, JSON for programs, and colour only where a terminal shows it. */
import { styleText } from 'node:util';
import { type Cell, indent, type Value } from '#domain/resource/command.ts';
import { agoWords, columnsOf, oneLine, printable } from './text.ts';
import { wrapText } from './wrap.ts';

export type Style = Parameters<typeof styleText>[0];

/** Where to print. Node decides whether the stream has colour (NO_COLOR, FORCE_COLOR, no terminal). */
export interface Output {
  readonly stream: NodeJS.WriteStream;
  readonly columns: number;
  line(text?: string): void;
  /** Styles our own words; text from elsewhere goes through `printable` first. */
  paint(style: Style, text: string): string;
}

export function createOutput(stream: NodeJS.WriteStream): Output {
  return {
    stream,
    get columns() {
      return stream.columns > 0 ? stream.columns : 100;
    },
    line: (text = '') => void stream.write(`${text}\n`),
    paint: (style, text) => styleText(style, text, { stream }),
  };
}

/** Breaks our own text between words at the terminal's width. */
export function fitted(output: Pick<Output, 'stream' | 'columns'>, text: string): string {
  return output.stream.isTTY ? wrapText(text, output.columns) : text;
}

export function printJson(output: Output, value: unknown): void {
  output.line(JSON.stringify(value, null, 2));
}

/** Prints text that is the result itself: unchanged for programs, without control characters for a terminal. */
export function printText(output: Output, text: string): void {
  const shown = output.stream.isTTY ? fitted(output, printable(text)) : text;
  output.stream.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** A column named `status` without a style of its own has the style of the word in it. */
interface StyledCell<Row> {
  readonly cell: Value<Row>;
  style(row: Row): Style | undefined;
}

export type Columns<Row> = Readonly<Record<string, Cell<Row> | StyledCell<Row>>>;

interface Column<Row> {
  readonly title: string;
  cell(row: Row): unknown;
  readonly isAgo: boolean;
  readonly isFlexible: boolean;
  readonly style?: StyledCell<Row>['style'] | undefined;
}

/**
 * Prints one line a row. Cells are cut, never wrapped, and the flexible column fills the rest of the terminal's width.
 * Where even that is too wide for a terminal, empty columns are left out, and the last ones stand below their row.
 */
export function printTable<Row>(output: Output, titled: Columns<Row>, rows: readonly Row[]): void {
  const now = Date.now();
  const all = Object.entries(titled).map(([title, value]) => {
    const column = columnOf<Row>(title, value);
    const { cell, isAgo } = column;
    const cells = rows.map((row) => cellText(isAgo ? agoWords(cell(row), now) : cell(row)));
    return { ...column, cells, width: Math.max(columnsOf(title), ...cells.map(columnsOf)) };
  });
  const limit = output.stream.isTTY ? output.columns : Infinity;
  const table = fit(all, limit);
  const { lines, below } = isWithin(table, limit) ? { lines: table, below: [] } : split(all, limit);
  const pad = (text: string, { width }: Laid<Row>, isLast: boolean, style: Style | undefined): string => {
    const cut = oneLine(text, Math.max(1, width));
    const space = isLast ? '' : ' '.repeat(Math.max(0, width - columnsOf(cut)) + 2);
    return (style ? output.paint(style, cut) : cut) + space;
  };
  const isLast = (column: Laid<Row>): boolean => column === lines.at(-1);
  output.line(lines.map((one) => pad(one.title.toUpperCase(), one, isLast(one), 'dim')).join(''));
  rows.forEach((row, at) => {
    output.line(lines.map((one) => pad(one.cells[at] ?? '', one, isLast(one), styleOf(one, row))).join(''));
    const words = below
      .filter(({ cells }) => cells[at])
      .map(({ title, cells }) => `${title} ${oneLine(cells[at] ?? '', limit)}`);
    if (words.length > 0) output.line(output.paint('dim', wrapText(`  ${words.join(' · ')}`, limit)));
  });
}

interface Laid<Row> extends Column<Row> {
  readonly cells: readonly string[];
  readonly width: number;
}

function widthOf(columns: readonly { readonly width: number }[]): number {
  return columns.reduce((sum, { width }) => sum + width + 2, -2);
}

function isWithin(columns: readonly { readonly width: number }[], limit: number): boolean {
  return widthOf(columns) <= limit;
}

/** The flexible column gives way. */
function fit<Row>(columns: readonly Laid<Row>[], limit: number): readonly Laid<Row>[] {
  const others = columns.filter(({ isFlexible }) => !isFlexible);
  if (others.length === columns.length) return columns;
  const max = Math.max(12, limit - 1 - widthOf(others) - 2);
  return columns.map((one) => (one.isFlexible ? { ...one, width: Math.min(one.width, max) } : one));
}

/** As many as fit beside each other, and those that stand below. */
function split<Row>(
  all: readonly Laid<Row>[],
  limit: number,
): { readonly lines: readonly Laid<Row>[]; readonly below: readonly Laid<Row>[] } {
  const columns = all.filter(({ cells }) => cells.some((text) => text !== ''));
  const table = fit(columns, limit);
  if (isWithin(table, limit)) return { lines: table, below: [] };
  const fixed = columns.filter(({ isFlexible }) => !isFlexible);
  const end = fixed.findIndex((_, at) => at > 0 && !isWithin(fixed.slice(0, at + 1), limit));
  const lines = end < 0 ? fixed : fixed.slice(0, end);
  return { lines, below: columns.filter((one) => !lines.includes(one)) };
}

function columnOf<Row>(title: string, column: Columns<Row>[string]): Column<Row> {
  const parts: Partial<Record<'ago' | 'flexible', Value<Row>> & StyledCell<Row>> =
    typeof column === 'object' ? column : { cell: column };
  const value = parts.ago ?? parts.flexible ?? parts.cell;
  return {
    title,
    style: parts.style,
    isAgo: parts.ago !== undefined,
    isFlexible: parts.flexible !== undefined,
    cell: (row) => (typeof value === 'function' ? value(row) : value && row[value]),
  };
}

function styleOf<Row>({ title, cell, style }: Column<Row>, row: Row): Style | undefined {
  if (style) return style(row);
  return title === 'status' ? statusStyle(cell(row)) : undefined;
}

/** Prints `name  value` lines. It omits undefined and null, and prints long text and objects below their name. */
export function printFields(output: Output, fields: Readonly<Record<string, unknown>>): void {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(...shown.map(([name]) => name.length));
  for (const [name, value] of shown) {
    const text = printable(typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value));
    const isBlock = text.includes('\n');
    const label = output.paint('dim', isBlock ? name : name.padEnd(width));
    const wrapped = output.stream.isTTY ? wrapText(text, Math.max(20, output.columns - width - 2)) : text;
    if (isBlock) output.line(`${label}\n${indent(text)}`);
    else output.line(`${label}  ${wrapped.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}`);
  }
}

const STATUS_STYLES: Readonly<Record<string, Style>> = {
  completed: 'green',
  approved: 'green',
  running: 'cyan',
  queued: 'dim',
  waiting_approval: 'yellow',
  pending: 'yellow',
  responded: 'green',
  failed: 'red',
  denied: 'red',
  expired: 'red',
  stopped: 'magenta',
  withdrawn: 'magenta',
};

export function statusStyle(status: unknown): Style | undefined {
  return typeof status === 'string' ? STATUS_STYLES[status] : undefined;
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return oneLine(text, 400);
}
