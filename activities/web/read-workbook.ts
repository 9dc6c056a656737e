/** Workbooks (SpreadsheetML) as tables: what each cell shows, and what a table cannot show in words. Runs in a thread of its own (page-thread.ts). */
import { builtInFormat, type CellFormat, formattedNumber } from './cell-format.ts';
import { type Parts, partOf, relationsOf } from './office-parts.ts';
import { type Attributes, attributesIn, readXml, tableRow } from './read-xml.ts';

/** Cells of a row that are shown. */
const MAX_COLUMNS = 200;
/** Merged places of a sheet that are named. */
const MAX_MERGED = 50;

interface Book {
  readonly strings: readonly string[];
  /** By the number of a cell's style. */
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
      const part = parts.get(targets.get(sheet['r:id'] ?? '') ?? '');
      const isHidden = (sheet['state'] ?? 'visible') !== 'visible';
      const heading = `## ${sheet['name']}${isHidden ? ' [a hidden sheet]' : ''}`;
      return `${heading}\n\n${part === undefined ? '' : readSheet(part, book)}`;
    })
    .join('\n\n');
}

/** Without what says how East Asian ones are spoken. */
function sharedStrings(xml: string): readonly string[] {
  const strings: string[] = [];
  let [isRead, spoken] = [false, 0];
  readXml(xml, {
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
  });
  return strings;
}

function cellFormats(xml: string): readonly CellFormat[] {
  const own = new Map<number, CellFormat>();
  const formats: CellFormat[] = [];
  let isOfCells = false;
  readXml(xml, {
    open(name, { numFmtId, formatCode }) {
      if (name === 'numFmt') own.set(Number(numFmtId), formatCode ?? '');
      if (name === 'cellXfs') isOfCells = true;
      const id = Number(numFmtId ?? 0);
      if (name === 'xf' && isOfCells) formats.push(own.get(id) ?? builtInFormat(id));
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false;
    },
  });
  return formats;
}

interface Cell {
  readonly attributes: Attributes;
  value: string;
  formula: string | undefined;
}

function readSheet(xml: string, book: Book): string {
  const lines: string[] = [];
  const merged: string[] = [];
  let row: string[] = [];
  let cell: Cell = { attributes: {}, value: '', formula: undefined };
  let reading: string | undefined;
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') row = [];
      if (name === 'c') cell = { attributes, value: '', formula: undefined };
      if (name === 'f') cell.formula = '';
      if (name === 'mergeCell' && attributes['ref']) merged.push(attributes['ref']);
      reading = name;
    },
    text(text) {
      if (reading === 'v' || reading === 't') cell.value += text;
      if (reading === 'f') cell.formula = (cell.formula ?? '') + text;
    },
    close(name) {
      reading = undefined;
      if (name === 'c') put(row, cell, book);
      if (name === 'row' && row.length > 0) lines.push(tableRow(row, lines.length === 0));
    },
  });
  if (merged.length === 0) return lines.join('');
  const more = merged.length > MAX_MERGED ? ', …' : '';
  return `${lines.join('')}\n[one cell each: ${merged.slice(0, MAX_MERGED).join(', ')}${more}]`;
}

function put(row: string[], cell: Cell, book: Book): void {
  const place = cell.attributes['r'];
  const column = place ? columnOf(place) : row.length;
  const text = shownCell(cell, book);
  if (text === '' || column >= MAX_COLUMNS) return;
  while (row.length < column) row.push('');
  row[column] = text;
}

/** A formula that nobody has computed is said as such. */
function shownCell({ attributes: { t: type, s: style }, value, formula }: Cell, book: Book): string {
  if (value === '' && formula !== undefined) return `=${formula || '(a formula)'}`;
  if (type === 's') return book.strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type !== undefined && type !== 'n') return value;
  return formattedNumber(value, book.formats[Number(style ?? 0)] ?? 'General', book.is1904);
}

/** Of `AB12`, counted from 0. */
function columnOf(place: string): number {
  const letters = /^[A-Z]{1,3}/.exec(place)?.[0] ?? 'A';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
