/** Extracts the text of a PDF, page by page. Runs in a thread of its own (page-thread.ts). */
import { getDocumentProxy } from 'unpdf';
import { type Piece, readColumns } from './page-columns.ts';

/** Pages of one reading. */
const MAX_PAGES = 300;

/** `from` and `to` are pages, counted from 1; when absent, as many as are read at once. */
export async function readPdf(bytes: Uint8Array, from = 1, to = Number.POSITIVE_INFINITY): Promise<string> {
  const pdf = await getDocumentProxy(bytes, { isEvalSupported: false, disableFontFace: true });
  if (from > pdf.numPages) throw new Error(`it has no page ${from}, only ${pdf.numPages}`);
  const last = Math.min(pdf.numPages, to, from + MAX_PAGES - 1);
  const pages: string[] = [];
  for (let number = from; number <= last; number += 1) {
    const text = await readPage(await pdf.getPage(number));
    pages.push(`[page ${number} of ${pdf.numPages}]\n${text.trim()}`);
  }
  if (last < Math.min(pdf.numPages, to)) pages.push(`[the other ${pdf.numPages - last} pages are not read]`);
  return pages.join('\n\n');
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>;

/** Reads in the order of the file, except for columns, which a file may contain line by line. */
async function readPage(page: Page): Promise<string> {
  const { items } = await page.getTextContent();
  const texts = items.flatMap((item) => ('str' in item ? item : []));
  const { transform } = page.getViewport({ scale: 1 });
  const placed = texts.map((item) => ({ item, piece: pieceOf(item, transform) }));
  const columns = readColumns(placed.flatMap(({ piece }) => piece ?? []));
  // Text in another direction, such as a stamp at the side, comes last.
  const others = placed.flatMap(({ item, piece }) => (piece ? [] : item.str.trim() || []));
  if (columns !== undefined) return [columns, ...others].join('\n');
  return texts.map(({ str, hasEOL }) => str + (hasEOL ? '\n' : '')).join('');
}

/**
 * Positions are those of the page as shown, also of a rotated one; text that does not run from left to right there has
 * none.
 */
function pieceOf(
  { str, width, transform: own }: { str: string; width: number; transform: readonly number[] },
  page: readonly number[],
): Piece | undefined {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = page;
  const [ownA = 0, ownB = 0, , , x = 0, y = 0] = own;
  const size = Math.hypot(ownA, ownB);
  const [right, down] = [a * ownA + c * ownB, b * ownA + d * ownB];
  if (size === 0 || right <= 0 || Math.abs(down) > Math.abs(right) / 10) return undefined;
  const remaining = a * x + c * y + e;
  return { text: str, left: remaining, right: remaining + width, top: b * x + d * y + f, size };
}
