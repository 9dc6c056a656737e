/** Extracts the text of a document without a model: by parsers in a thread that is killed at its limit. */
import { decodeText, kindOf, readApart, ReadingProblem } from '#features/web/index.ts';
import type { MediaFile } from './open-media.ts';
import { FileProblem, shown } from '#activities/workspace/file-problem.ts';

/** Pages, counted from 1, both inclusive. */
export interface PageSpan {
  readonly from: number;
  readonly to: number;
}

const OFFICE =
  /^application\/(?:vnd\.openxmlformats-officedocument\.\w+\.\w+|vnd\.oasis\.opendocument\.\w+|epub\+zip|zip|vnd\.ms-\w+\.\w+\.macroenabled\.12)$/;

/** @throws FileProblem with what is wrong with the document. */
export async function documentText(
  { bytes, type, name, url }: MediaFile,
  pages: PageSpan | undefined,
  signal: AbortSignal,
): Promise<string> {
  try {
    if (type === 'application/pdf') return await readApart({ how: 'pdf', bytes, ...pages }, signal);
    if (/^(?:text\/html|application\/xhtml\+xml)$/.test(type)) return await htmlText(bytes, url, signal);
    if (OFFICE.test(type)) return await readApart({ how: 'office', bytes }, signal);
  } catch (error) {
    if (!(error instanceof ReadingProblem)) throw error;
    // The message may quote the document.
    const why = error.message.replace(/[^\w .,:()-]/g, '').slice(0, 100);
    throw new FileProblem(
      'ExecutionFailed',
      `${shown(name)} (${type}, ${bytes.length} bytes) cannot be read: ${why}`,
    );
  }
  if (type === 'application/x-cfb')
    throw new FileProblem(
      'ExecutionFailed',
      `${shown(name)} is an office file of the old kind, or one with a password; save it as DOCX, XLSX, PPTX or PDF`,
    );
  if (kindOf(type, bytes) === 'binary')
    throw new FileProblem(
      'ExecutionFailed',
      `${shown(name)} cannot be read: it is ${type}, which has no text`,
    );
  return decodeText(bytes, type);
}

/** The address that stands for the folder of a file while it is read: the reader makes all links absolute. */
const NOWHERE = 'http://document.invalid/';

/** All of it as Markdown, else as text. Links of a file stay relative to it. */
async function htmlText(bytes: Uint8Array, url = NOWHERE, signal: AbortSignal): Promise<string> {
  const page = { html: decodeText(bytes, ''), url };
  const text = await readApart({ how: 'simple', ...page }, signal).catch((error: unknown) => {
    if (error instanceof ReadingProblem) return readApart({ how: 'text', ...page }, signal);
    throw error;
  });
  return url === NOWHERE ? text.replaceAll(NOWHERE, '') : text;
}
