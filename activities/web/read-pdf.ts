/** The text of a PDF, page by page. Runs in a thread of its own (page-thread.ts). */
import { getDocumentProxy } from 'unpdf';

/** Of one reading. */
const MAX_PAGES = 300;

/** `from` and `to` are pages, counted from 1; all that are read at once when absent. */
export async function readPdf(bytes: Uint8Array, from = 1, to = Number.POSITIVE_INFINITY): Promise<string> {
  const pdf = await getDocumentProxy(bytes, { isEvalSupported: false, disableFontFace: true });
  if (from > pdf.numPages) throw new Error(`it has no page ${from}, only ${pdf.numPages}`);
  const last = Math.min(pdf.numPages, to, from + MAX_PAGES - 1);
  const pages: string[] = [];
  for (let number = from; number <= last; number += 1) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    const text = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
    pages.push(`[page ${number} of ${pdf.numPages}]\n${text.trim()}`);
  }
  if (last < Math.min(pdf.numPages, to)) pages.push(`[the other ${pdf.numPages - last} pages are not read]`);
  return pages.join('\n\n');
}
