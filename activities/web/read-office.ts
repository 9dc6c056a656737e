/**
 * Files of office programs (OOXML, OpenDocument) and e-books (EPUB) as text, tables as those of Markdown. Runs in a thread of its own
 * (page-thread.ts).
 */
import { strFromU8, unzipSync } from 'fflate';
import { readHtml } from './read-html.ts';
import { type Attributes, attributesIn, readFlow, readXml, tableRow } from './read-xml.ts';

/** An archive that has more, or grows to more, is none that a person has written. */
const MAX_ENTRIES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Of one entry that grows to more than a megabyte; text that repeats itself is packed to a fiftieth. */
const MAX_RATIO = 200;
const SMALL_BYTES = 1_048_576;
/** Cells of a row that are shown. */
const MAX_COLUMNS = 200;

type Parts = ReadonlyMap<string, string>;

export async function readOffice(bytes: Uint8Array): Promise<string> {
  const parts = unpack(bytes);
  if (parts.has('word/document.xml')) return readWord(parts);
  if (parts.has('xl/workbook.xml')) return readWorkbook(parts);
  if (parts.has('ppt/presentation.xml')) return readSlides(parts);
  if (parts.has('META-INF/container.xml') && !parts.has('content.xml')) return readBook(parts);
  return readFlow(partOf(parts, 'content.xml'));
}

/** The parts that are text, by path. What is said of their sizes is checked before, and held to while, they are unpacked. */
function unpack(bytes: Uint8Array): Parts {
  let [entries, whole] = [0, 0];
  const unpacked = unzipSync(bytes, {
    filter({ name, size, originalSize }) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`);
      if (!/\.(?:xml|rels|opf|x?html?)$/i.test(name)) return false;
      whole += originalSize;
      if (whole > MAX_BYTES) throw new Error(`it unpacks to more than ${MAX_BYTES} bytes`);
      if (originalSize > SMALL_BYTES && originalSize > size * MAX_RATIO)
        throw new Error(`an entry unpacks to more than ${MAX_RATIO} times its size`);
      return true;
    },
  });
  return new Map(Object.entries(unpacked).map(([name, data]) => [name, strFromU8(data)]));
}

function partOf(parts: Parts, path: string): string {
  const part = parts.get(path);
  if (part === undefined) throw new Error(`it has no ${path.slice(0, 100)}`);
  return part;
}

function readWord(parts: Parts): string {
  const notes = ['word/footnotes.xml', 'word/endnotes.xml'].flatMap((path) => parts.get(path) ?? []);
  return [partOf(parts, 'word/document.xml'), ...notes].map(readFlow).join('\n\n');
}

function readSlides(parts: Parts): string {
  const targets = relationsOf(parts, 'ppt/', 'presentation.xml');
  const slides = attributesIn(partOf(parts, 'ppt/presentation.xml'), 'p:sldId');
  return slides
    .map(
      (slide, index) =>
        `## Slide ${index + 1}\n\n${readFlow(partOf(parts, targets.get(slide['r:id'] ?? '') ?? ''))}`,
    )
    .join('\n\n');
}

function readWorkbook(parts: Parts): string {
  const targets = relationsOf(parts, 'xl/', 'workbook.xml');
  const strings = sharedStrings(parts.get('xl/sharedStrings.xml') ?? '');
  return attributesIn(partOf(parts, 'xl/workbook.xml'), 'sheet')
    .map((sheet) => {
      const part = parts.get(targets.get(sheet['r:id'] ?? '') ?? '');
      return `## ${sheet['name']}\n\n${part === undefined ? '' : readSheet(part, strings)}`;
    })
    .join('\n\n');
}

/** Paths by the ids under which a part names others (OPC, relationships). */
function relationsOf(parts: Parts, folder: string, name: string): ReadonlyMap<string, string> {
  const relations = attributesIn(partOf(parts, `${folder}_rels/${name}.rels`), 'Relationship');
  return new Map(
    relations.map(({ Id = '', Target = '' }) => [
      Id,
      Target.startsWith('/') ? Target.slice(1) : folder + Target,
    ]),
  );
}

function sharedStrings(xml: string): readonly string[] {
  const strings: string[] = [];
  let isRead = false;
  readXml(xml, {
    open(name) {
      if (name === 'si') strings.push('');
      isRead = name === 't';
    },
    text(text) {
      if (isRead) strings.push((strings.pop() ?? '') + text);
    },
    close: () => void (isRead = false),
  });
  return strings;
}

/** Values as they are kept: dates are numbers of days. */
function readSheet(xml: string, strings: readonly string[]): string {
  const lines: string[] = [];
  let row: string[] = [];
  let cell: Attributes = {};
  let value = '';
  let isRead = false;
  readXml(xml, {
    open(name, attributes) {
      if (name === 'row') row = [];
      if (name === 'c') [cell, value] = [attributes, ''];
      isRead = name === 'v' || name === 't';
    },
    text(text) {
      if (isRead) value += text;
    },
    close(name) {
      isRead = false;
      if (name === 'c') {
        const column = cell['r'] ? columnOf(cell['r']) : row.length;
        if (value === '' || column >= MAX_COLUMNS) return;
        while (row.length < column) row.push('');
        row[column] = cell['t'] === 's' ? (strings[Number(value)] ?? '') : value;
      }
      if (name === 'row' && row.length > 0) lines.push(tableRow(row, lines.length === 0));
    },
  });
  return lines.join('');
}

/** Of `AB12`, counted from 0. */
function columnOf(place: string): number {
  const letters = /^[A-Z]{1,3}/.exec(place)?.[0] ?? 'A';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

async function readBook(parts: Parts): Promise<string> {
  const [{ 'full-path': path = '' } = {}] = attributesIn(partOf(parts, 'META-INF/container.xml'), 'rootfile');
  const book = partOf(parts, path);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const items = new Map(
    attributesIn(book, 'item').map(({ id = '', href = '' }) => [id, folder + decodeURI(href)]),
  );
  const chapters = attributesIn(book, 'itemref').flatMap(
    ({ idref = '' }) => parts.get(items.get(idref) ?? '') ?? [],
  );
  const texts: string[] = [];
  for (const chapter of chapters) texts.push(await readHtml('text', chapter, 'http://book.invalid/'));
  return texts.join('\n\n');
}
