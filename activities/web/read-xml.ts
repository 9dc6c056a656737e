/** XML of office files, read in one pass: no tree is built, and no entity of its own is followed. Runs in a thread of its own (page-thread.ts). */
import { Parser } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string | undefined>>;

export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

const MAX_DEPTH = 300;
/** Characters of text that come of one part. */
const MAX_TEXT = 10_000_000;

export function readXml(xml: string, { open, text, close }: XmlHandler): void {
  let [depth, characters] = [0, 0];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > MAX_DEPTH) throw new Error('it is nested too deep');
        open(name, attributes);
      },
      ontext(data) {
        characters += data.length;
        if (characters > MAX_TEXT) throw new Error(`it has more than ${MAX_TEXT} characters`);
        text?.(data);
      },
      onclosetag(name) {
        depth -= 1;
        close?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}

/** Of each element of the name. */
export function attributesIn(xml: string, wanted: string): readonly Attributes[] {
  const found: Attributes[] = [];
  readXml(xml, { open: (name, attributes) => void (name === wanted && found.push(attributes)) });
  return found;
}

/** A line of a table in Markdown; the first has the line below it. */
export function tableRow(cells: readonly string[], isFirst: boolean): string {
  const shown = cells.map((cell) => cell.trim().replace(/\s+/g, ' ').replaceAll('|', '\\|'));
  return `| ${shown.join(' | ')} |\n${isFirst ? `|${' --- |'.repeat(shown.length)}\n` : ''}`;
}

/** WordprocessingML (w), DrawingML (a) and OpenDocument (text, table). */
const PARAGRAPH = /^(?:[wa]:p|text:[ph])$/;
const TEXT = /^(?:[wa]:t|text:[ph])$/;
const BREAK = /^(?:w:br|w:cr|a:br|text:line-break)$/;
const TAB = /^(?:w:tab|text:tab)$/;
const TABLE = /^(?:[wa]:tbl|table:table)$/;
const ROW = /^(?:[wa]:tr|table:table-row)$/;
const CELL = /^(?:[wa]:tc|table:table-cell)$/;
/** What is deleted, or said of the text and not in it. */
const SKIPPED = /^(?:w:del|w:tabs|w:instrText|mc:Fallback|text:tracked-changes|office:annotation)$/;
/** Empty cells that stand for many fill a row no further. */
const MAX_REPEATED = 50;

/** A document's paragraphs and tables in their order. */
export function readFlow(xml: string): string {
  /** What is being written: the document, and the cells of tables in it. */
  const texts = [''];
  const rows: string[][] = [];
  const tables: { isBegun: boolean }[] = [];
  const repeats: number[] = [];
  let [shown, skipped] = [0, 0];
  const write = (text: string): void => void texts.push((texts.pop() ?? '') + text);
  readXml(xml, {
    open(name, attributes) {
      if (skipped > 0 || SKIPPED.test(name)) return void (skipped += 1);
      if (TEXT.test(name)) shown += 1;
      if (TABLE.test(name)) {
        if (attributes['table:name']) write(`\n## ${attributes['table:name']}\n\n`);
        tables.push({ isBegun: false });
      } else if (ROW.test(name)) rows.push([]);
      else if (CELL.test(name)) {
        texts.push('');
        repeats.push(Number(attributes['table:number-columns-repeated']) || 1);
      } else if (BREAK.test(name)) write('\n');
      else if (TAB.test(name)) write('\t');
      else if (name === 'text:s') write(' ');
      else if (name === 'draw:page') write(`\n## ${attributes['draw:name'] ?? ''}\n\n`);
      write(headingMark(name, attributes));
    },
    text(text) {
      if (shown > 0 && skipped === 0) write(text);
    },
    close(name) {
      if (skipped > 0) return void (skipped -= 1);
      if (TEXT.test(name)) shown -= 1;
      if (PARAGRAPH.test(name)) write('\n');
      if (CELL.test(name) && texts.length > 1) {
        const text = texts.pop() ?? '';
        const times = Math.min(repeats.pop() ?? 1, MAX_REPEATED);
        rows.at(-1)?.push(...Array.from({ length: times }, () => text));
      }
      if (ROW.test(name)) endRow();
      if (TABLE.test(name)) tables.pop();
    },
  });
  return texts
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

  function endRow(): void {
    const row = rows.pop() ?? [];
    const last = row.findLastIndex((cell) => cell.trim() !== '');
    if (last < 0) return;
    const table = tables.at(-1);
    write(tableRow(row.slice(0, last + 1), table?.isBegun === false));
    if (table) table.isBegun = true;
  }
}

function headingMark(name: string, attributes: Attributes): string {
  const style = name === 'w:pStyle' ? /^(?:heading ?(\d)|(title))$/i.exec(attributes['w:val'] ?? '') : null;
  const level = name === 'text:h' ? attributes['text:outline-level'] : (style?.[1] ?? (style?.[2] && '1'));
  return level === undefined ? '' : `${'#'.repeat(Math.min(Number(level) || 1, 6))} `;
}
