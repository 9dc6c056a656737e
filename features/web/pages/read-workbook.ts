/**
 * Converts workbooks (SpreadsheetML) to tables: what each cell shows, and in words what a table cannot show. Runs in a
 * thread of its own (page-thread.ts).
 */
import { builtInFormat, type CellFormat, formattedNumber } from './cell-format.ts';
import { type Parts, partOf, relationsOf } from './office-parts.ts';
import { type Attributes, attributesIn, readXml, tableRow } from './read-xml.ts';
import { sheetNotes } from './sheet-notes.ts';

/** Cells of a row that are shown. */
const MAX_COLUMNS = 200;
/** Merged ranges of a sheet that are named. */
const MAX_MERGED = 50;

interface Book {
  readonly strings: readonly string[];
  /** Formats by the number of a cell's style. */
  readonly formats: readonly CellFormat[];
  readonly is1904: boolean;
}

export function readWorkbook(parts: Parts): string {
  const workbook = partOf(parts, 'xl/workbook.xml');
  const targets = relationsOf(parts, 'xl/', 'workbook.xml');
  const [{ date1904 } = {}] = attributesIn(workbook, 'workbookPr');
  const book: Book = {
    strings: sharedStrings(parts.get('xl/sharedStrings.xml') ?? ''),
    formats: cellFormats(parts.get('xl/styles.xml') ?? ''),
    is1904: date1904 === '1' || date1904 === 'true',
  };
  return attributesIn(workbook, 'sheet')
    .map((sheet) => {
      const path = targets.get(sheet['r:id'] ?? '') ?? '';
      const part = parts.get(path);
      const isHidden = (sheet['state'] ?? 'visible') !== 'visible';
      const heading = `## ${sheet['name']}${isHidden ? ' [a hidden sheet]' : ''}`;
      if (part === undefined) return `${heading}\n\n`;
      return [`${heading}\n\n${readSheet(part, book)}`, ...sheetNotes(parts, path)].join('\n');
    })
    .join('\n\n');
}

/** Omits how East Asian texts are pronounced. */
function sharedStrings(xml: string): readonly string[] {
  const strings: string[] = [];
  let [isRead, spoken] = [false, 0];
  readXml(
    xml,
    {
      open(name) {
        if (name === 'si') strings.push('');
        if (name === 'rPh') spoken += 1;
        isRead = name === 't' && spoken === 0;
      },
      text(text) {
        if (isRead) strings.push((strings.pop() ?? '') + text);
      },
      close(name) {
        if (name === 'rPh') spoken -= 1;
        isRead = false;
      },
    },
    'dropped',
  );
  return strings;
}

function cellFormats(xml: string): readonly CellFormat[] {
  const own = new Map<number, CellFormat>();
  const formats: CellFormat[] = [];
  let isOfCells = false;
  readXml(
    xml,
    {
      open(name, { numFmtId, formatCode }) {
        if (name === 'numFmt') own.set(Number(numFmtId), formatCode ?? '');
        if (name === 'cellXfs') isOfCells = true;
        const id = Number(numFmtId ?? 0);
        if (name === 'xf' && isOfCells) formats.push(own.get(id) ?? builtInFormat(id));
      },
      close(name) {
        if (name === 'cellXfs') isOfCells = false;
      },
    },
    'dropped',
  );
  return formats;
}

interface Cell {
  readonly attributes: Attributes;
  value: string;
  formula: string | undefined;
}

interface Sheet {
  readonly lines: string[];
  readonly merged: string[];
  /** Row numbers from 1. */
  readonly hiddenRows: number[];
  /** Column numbers from 0. */
  readonly hiddenColumns: Set<number>;
}

function readSheet(xml: string, book: Book): string {
  const sheet: Sheet = { lines: [], merged: [], hiddenRows: [], hiddenColumns: new Set() };
  const { lines, hiddenRows, hiddenColumns } = sheet;
  let row: string[] = [];
  let rows = 0;
  let column = -1;
  let cell: Cell = { attributes: {}, value: '', formula: undefined };
  let reading: string | undefined;
  readXml(
    xml,
    {
      open(name, attributes) {
        if (name === 'col' && isOn(attributes['hidden'])) hideColumns(hiddenColumns, attributes);
        if (name === 'row') {
          row = [];
          column = -1;
          rows = Number(attributes['r'] ?? rows + 1);
          if (isOn(attributes['hidden'])) hiddenRows.push(rows);
        }
        if (name === 'c') cell = { attributes, value: '', formula: undefined };
        if (name === 'f') cell.formula = '';
        if (name === 'mergeCell' && attributes['ref']) sheet.merged.push(attributes['ref']);
        reading = name;
      },
      text(text) {
        if (reading === 'v' || reading === 't') cell.value += text;
        if (reading === 'f') cell.formula = (cell.formula ?? '') + text;
      },
      close(name) {
        reading = undefined;
        if (name === 'c') {
          // A cell without a position follows the previous one, empty or not.
          column = cell.attributes['r'] ? columnOf(cell.attributes['r']) : column + 1;
          if (!hiddenColumns.has(column)) put(row, column, shownCell(cell, book));
        }
        if (name === 'row' && row.length > 0 && hiddenRows.at(-1) !== rows)
          lines.push(tableRow(row, lines.length === 0));
      },
    },
    'dropped',
  );
  const notes = [mergedWords(sheet.merged), hiddenWords(sheet)].filter((words) => words !== '');
  return notes.length === 0 ? lines.join('') : `${lines.join('')}\n${notes.join('\n')}`;
}

function isOn(value: string | undefined): boolean {
  return value === '1' || value === 'true';
}

function hideColumns(hidden: Set<number>, { min, max }: Attributes): void {
  for (let column = Number(min); column <= Math.min(Number(max), MAX_COLUMNS); column += 1)
    hidden.add(column - 1);
}

function mergedWords(merged: readonly string[]): string {
  if (merged.length === 0) return '';
  const more = merged.length > MAX_MERGED ? ', …' : '';
  return `[one cell each: ${merged.slice(0, MAX_MERGED).join(', ')}${more}]`;
}

/** Says that rows and columns which its reader does not see are omitted. */
function hiddenWords({ hiddenRows, hiddenColumns }: Sheet): string {
  const counts = [
    ...(hiddenRows.length > 0 ? [`hidden rows: ${hiddenRows.length}`] : []),
    ...(hiddenColumns.size > 0 ? [`hidden columns: ${hiddenColumns.size}`] : []),
  ];
  return counts.length === 0 ? '' : `[left out: ${counts.join(', ')}]`;
}

function put(row: string[], column: number, text: string): void {
  if (text === '' || column >= MAX_COLUMNS) return;
  while (row.length < column) row.push('');
  row[column] = text;
}

/** Says so if a formula has no computed value. */
function shownCell({ attributes: { t: type, s: style }, value, formula }: Cell, book: Book): string {
  if (value === '' && formula !== undefined) return `=${formula || '(a formula)'}`;
  if (type === 's') return book.strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type !== undefined && type !== 'n') return value;
  return formattedNumber(value, book.formats[Number(style ?? 0)] ?? 'General', book.is1904);
}

/** The column of `AB12`, counted from 0. */
function columnOf(place: string): number {
  const letters = /^[A-Z]{1,3}/.exec(place)?.[0] ?? 'A';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
