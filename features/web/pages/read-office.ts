/**
 * Converts files of office programs (OOXML, OpenDocument) and e-books (EPUB) to text, with tables in Markdown. Runs in
 * a thread of its own (page-thread.ts).
 */
import { type Parts, partOf, relationsOf, resolvedPath, unpack } from './office-parts.ts';
import { readChart } from './read-chart.ts';
import { readWord } from './read-word.ts';
import { readWorkbook } from './read-workbook.ts';
import { attributesIn, readFlow } from './read-xml.ts';

export async function readOffice(bytes: Uint8Array): Promise<string> {
  const parts = unpack(bytes);
  if (parts.has('word/document.xml')) return readWord(parts);
  if (parts.has('xl/workbook.xml')) return readWorkbook(parts);
  if (parts.has('ppt/presentation.xml')) return readSlides(parts);
  if (parts.has('META-INF/container.xml') && !parts.has('content.xml')) return readBook(parts);
  return readFlow(partOf(parts, 'content.xml'));
}

function readSlides(parts: Parts): string {
  const targets = relationsOf(parts, 'ppt/', 'presentation.xml');
  const slides = attributesIn(partOf(parts, 'ppt/presentation.xml'), 'sldId');
  return slides
    .map((slide, index) => readSlide(parts, targets.get(slide['r:id'] ?? '') ?? '', index + 1))
    .join('\n\n');
}

function readSlide(parts: Parts, path: string, number: number): string {
  const xml = partOf(parts, path);
  const [folder, name] = [path.slice(0, path.lastIndexOf('/') + 1), path.slice(path.lastIndexOf('/') + 1)];
  const related = parts.has(`${folder}_rels/${name}.rels`)
    ? [...relationsOf(parts, folder, name).values()]
    : [];
  const textOf = (target: string): string => parts.get(target) ?? '';
  const charts = related
    .filter((target) => /\/charts\/chart[^/]*\.xml$/.test(target))
    .map((target) => `\n\n[a chart: ${readChart(textOf(target))}]`);
  // The words of a drawing that is made of a list (SmartArt).
  const drawings = related
    .filter((target) => target.includes('diagrams/data'))
    .map((target) => readFlow(textOf(target)))
    .filter((text) => text !== '')
    .map((text) => `\n\n${text}`);
  const notes = related
    .filter((target) => target.includes('notesSlides/'))
    .map((target) => readFlow(textOf(target)))
    .filter((text) => text !== '')
    .map((text) => `\n\n[notes of the speaker]\n${text}`);
  const isHidden = attributesIn(xml, 'sld')[0]?.['show'] === '0';
  const heading = `## Slide ${number}${isHidden ? ' [a hidden slide]' : ''}`;
  return [`${heading}\n\n${readFlow(xml)}`, ...charts, ...drawings, ...notes].join('');
}

async function readBook(parts: Parts): Promise<string> {
  const [{ 'full-path': path = '' } = {}] = attributesIn(partOf(parts, 'META-INF/container.xml'), 'rootfile');
  const book = partOf(parts, path);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const items = new Map(
    attributesIn(book, 'item').map(({ id = '', href = '' }) => [id, resolvedPath(folder, href)]),
  );
  const chapters = attributesIn(book, 'itemref').flatMap(
    ({ idref = '' }) => parts.get(items.get(idref) ?? '') ?? [],
  );
  // Only books need it, and it takes longer to load than all else here.
  const { readHtml } = await import('./read-html.ts');
  const texts: string[] = [];
  for (const chapter of chapters) texts.push(await readHtml('text', chapter, 'http://book.invalid/'));
  return texts.join('\n\n');
}
