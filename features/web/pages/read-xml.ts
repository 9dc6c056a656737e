/**
 * Reads XML of office files in one pass: it builds no tree, and expands no entity that the file defines. Runs in a
 * thread of its own (page-thread.ts).
 */
import { Parser } from 'htmlparser2';
import { createRunSight } from './run-sight.ts';

export type Attributes = Readonly<Record<string, string | undefined>>;

export interface XmlHandler {
  open(name: string, attributes: Attributes): void;
  text?(text: string): void;
  close?(name: string): void;
}

const MAX_DEPTH = 300;
/** Characters of text from one part. */
const MAX_TEXT = 10_000_000;

/** `prefixes` says whether names keep theirs, which in some kinds of file depend on the writer. */
export function readXml(
  xml: string,
  { open, text, close }: XmlHandler,
  prefixes: 'kept' | 'dropped' = 'kept',
): void {
  let [depth, characters] = [0, 0];
  const nameOf = (name: string): string => (prefixes === 'kept' ? name : name.slice(name.indexOf(':') + 1));
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > MAX_DEPTH) throw new Error('it is nested too deep');
        open(nameOf(name), attributes);
      },
      ontext(data) {
        characters += data.length;
        if (characters > MAX_TEXT) throw new Error(`it has more than ${MAX_TEXT} characters`);
        text?.(data);
      },
      onclosetag(name) {
        depth -= 1;
        close?.(nameOf(name));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}

/** Attributes of each element of the name, whatever its prefix. */
export function attributesIn(xml: string, required: string): readonly Attributes[] {
  const found: Attributes[] = [];
  readXml(xml, { open: (name, attributes) => void (name === required && found.push(attributes)) }, 'dropped');
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
const CELL = /^(?:[wa]:tc|table:(?:covered-)?table-cell)$/;
/** Text that is deleted, or about the text and not in it. */
const SKIPPED =
  /^(?:w:del|w:moveFrom|w:tabs|w:instrText|mc:Fallback|text:tracked-changes|office:annotation)$/;
/** An empty cell that is repeated fills a row no further. */
const MAX_REPEATED = 50;

/** What a document's other parts say about its paragraphs. */
export interface FlowMarks {
  /** The mark before an item of a list; empty for a paragraph that is none. */
  item(paragraph: ListItem): string;
  /** The target of a link. */
  link(id: string): string | undefined;
}

export interface ListItem {
  list?: string | undefined;
  level?: number | undefined;
  /** Present if it names its own list. */
  style?: string | undefined;
}

/** A document's paragraphs and tables in order. */
export function readFlow(xml: string, marks?: FlowMarks): string {
  /** The texts being written: the document, and the cells of tables in it. */
  const texts = [''];
  const rows: string[][] = [];
  const tables: { isStarted: boolean }[] = [];
  const repeats: number[] = [];
  let [shown, skipped] = [0, 0];
  const sight = createRunSight();
  const paragraphs = createParagraphs(marks);
  const write = (text: string): void => void texts.push((texts.pop() ?? '') + text);
  readXml(xml, {
    open(name, attributes) {
      if (skipped > 0 || isSkipped(name, attributes)) return void (skipped += 1);
      sight.open(name, attributes);
      paragraphs.open(name, attributes);
      if (name === 'w:gridSpan') repeats.push((repeats.pop() ?? 1) * (Number(attributes['w:val']) || 1));
      if (TEXT.test(name)) shown += 1;
      openPlace(name, attributes);
    },
    text(text) {
      if (shown > 0 && skipped === 0 && !sight.isHidden()) write(text);
    },
    close(name) {
      if (skipped > 0) return void (skipped -= 1);
      if (TEXT.test(name)) shown -= 1;
      sight.close(name);
      write(paragraphs.close(name));
      if (PARAGRAPH.test(name)) write('\n');
      if (name === 'text:note-body') texts.push(`${(texts.pop() ?? '').trimEnd()}]`);
      if (CELL.test(name) && texts.length > 1) endCell(name);
      if (ROW.test(name)) endRow();
      if (TABLE.test(name)) tables.pop();
    },
  });
  return texts
    .join('')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

  function openPlace(name: string, attributes: Attributes): void {
    if (TABLE.test(name)) {
      if (attributes['table:name']) write(`\n## ${attributes['table:name']}\n\n`);
      tables.push({ isStarted: false });
    } else if (ROW.test(name)) rows.push([]);
    else if (CELL.test(name)) {
      texts.push('');
      repeats.push(Number(attributes['table:number-columns-repeated']) || 1);
    } else write(markOf(name, attributes));
  }

  function endCell(name: string): void {
    const text = texts.pop() ?? '';
    const times = Math.min(repeats.pop() ?? 1, MAX_REPEATED);
    // A cell that spans columns has its text once.
    const isOne = name === 'w:tc';
    rows.at(-1)?.push(text, ...Array.from({ length: times - 1 }, () => (isOne ? '' : text)));
  }

  function endRow(): void {
    const row = rows.pop() ?? [];
    const last = row.findLastIndex((cell) => cell.trim() !== '');
    if (last < 0) return;
    const table = tables.at(-1);
    write(tableRow(row.slice(0, last + 1), table?.isStarted === false));
    if (table) table.isStarted = true;
  }
}

/** Follows the elements as they come; `close` returns the text for the end of one. */
function createParagraphs(marks: FlowMarks | undefined) {
  let item: ListItem = {};
  const links: (string | undefined)[] = [];
  return {
    open(name: string, attributes: Attributes): void {
      const value = attributes['w:val'];
      if (name === 'w:p') item = {};
      if (name === 'w:pStyle') item.style = value;
      if (name === 'w:numId') item.list = value;
      if (name === 'w:ilvl') item.level = Number(value) || 0;
      if (name === 'w:hyperlink') links.push(marks?.link(attributes['r:id'] ?? ''));
    },
    close(name: string): string {
      if (name === 'w:pPr') return marks?.item(item) ?? '';
      const address = name === 'w:hyperlink' ? links.pop() : undefined;
      return address === undefined ? '' : ` (${address})`;
    },
  };
}

/** True for text that belongs elsewhere, or nowhere; the number of a slide is no text of its own. */
function isSkipped(name: string, { type, ...attributes }: Attributes): boolean {
  if (name === 'a:fld') return type?.startsWith('slidenum') === true;
  const isRule = /^w:(?:foot|end)note$/.test(name) && attributes['w:type'] !== undefined;
  return isRule || SKIPPED.test(name);
}

/** The text for an element that has none of its own. */
function markOf(name: string, attributes: Attributes): string {
  if (BREAK.test(name)) return '\n';
  if (TAB.test(name)) return '\t';
  if (name === 'text:s') return ' '.repeat(Math.min(Number(attributes['text:c']) || 1, MAX_REPEATED));
  if (name === 'draw:page') return `\n## ${attributes['draw:name'] ?? ''}\n\n`;
  if (name === 'text:note-citation') return '[^';
  if (name === 'text:note-body') return ': ';
  const [, end, isReference] = /^w:(foot|end)note(Reference)?$/.exec(name) ?? [];
  if (end === undefined) return headingMark(name, attributes);
  const mark = `[^${end === 'end' ? 'e' : ''}${attributes['w:id'] ?? ''}]`;
  return isReference ? mark : `${mark}: `;
}

function headingMark(name: string, attributes: Attributes): string {
  const style = name === 'w:pStyle' ? /^(?:heading ?(\d)|(title))$/i.exec(attributes['w:val'] ?? '') : null;
  const level = name === 'text:h' ? attributes['text:outline-level'] : (style?.[1] ?? (style?.[2] && '1'));
  return level === undefined ? '' : `${'#'.repeat(Math.min(Number(level) || 1, 6))} `;
}
