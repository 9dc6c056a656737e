/** A page of lines from an open file of any size, in bounded memory: bytes outside the page are counted, not kept. */
import { isUtf8 } from 'node:buffer';
import { FileProblem, shown } from './file-problem.ts';

export interface FilePageRequest {
  /** First line, from 0. */
  readonly offset: number;
  /** Number of lines; when absent, as many as fit. */
  readonly limit?: number;
  /** UTF-16 units of text. */
  readonly maxChars: number;
  /** Bytes of UTF-8, with `bytesPerLine` more for each line; without a limit when absent. */
  readonly maxBytes?: number;
  /** What the caller adds to a line, such as its number; 0 when absent. */
  readonly bytesPerLine?: number;
}

export interface FilePage {
  /** Whole lines with their ends, except a single line that is longer than the page. */
  readonly text: string;
  readonly lines: number;
  /** Known when the end was reached or the file is small enough to count. */
  readonly totalLines?: number;
  readonly more: boolean;
  /** The only returned line is not whole. */
  readonly cutLine: boolean;
  readonly invalidUtf8: boolean;
  readonly size: number;
  /** The folder's guide; returned once per session. */
  readonly guide?: string | undefined;
}

/** The source of a page: an open file, or a text. */
export interface PageSource {
  stat(): Promise<{ readonly size: number }>;
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

export function sourceOf(text: string): PageSource {
  const bytes = Buffer.from(text);
  return {
    stat: async () => ({ size: bytes.length }),
    read: async (buffer, offset, length, position) => ({
      bytesRead: bytes.copy(buffer, offset, position, position + length),
    }),
  };
}

const CHUNK = 64 * 1024;
/** Number of bytes that are searched for a NUL, as in git and ripgrep. */
const SNIFF = 8 * 1024;
/** A page deep in a file must stay within the 10 s of a local activity. */
const MAX_SCAN = 1024 ** 3;
/** Files up to this size are read to the end, to count their lines. */
const COUNT_LIMIT = 16 * 1024 * 1024;
const NEWLINE = 10;

interface Scan {
  line: number;
  kept: Buffer[];
  keptBytes: number;
  endsWithNewline: boolean;
  position: number;
}

/** Reads a page. Throws FileProblem for a binary file, and for a page that starts beyond the first GiB. */
export async function readPage(
  file: PageSource,
  request: FilePageRequest,
  requestedPath: string,
): Promise<FilePage> {
  const { size } = await file.stat();
  await refuseBinary(file, requestedPath, size);
  const scan: Scan = { line: 0, kept: [], keptBytes: 0, endsWithNewline: true, position: 0 };
  const last = request.offset + (request.limit ?? Number.POSITIVE_INFINITY);
  const maxBytes = request.maxChars * 3 + 4;
  const chunk = Buffer.allocUnsafe(CHUNK);
  let ended = false;
  while (!ended) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK, scan.position);
    if (bytesRead === 0) {
      ended = true;
      break;
    }
    scan.position += bytesRead;
    take(scan, chunk.subarray(0, bytesRead), request.offset, last, maxBytes);
    const full = scan.line >= last || scan.keptBytes >= maxBytes;
    if (full && size > COUNT_LIMIT) break;
    if (scan.position > MAX_SCAN && scan.line < request.offset)
      throw new FileProblem(
        'ExecutionFailed',
        `${shown(requestedPath)} is too large to page to line ${request.offset}; use search, or exec with tail or sed`,
      );
  }
  const totalLines = ended ? scan.line + (scan.endsWithNewline ? 0 : 1) : undefined;
  return cut(scan, request, totalLines, size);
}

function take(scan: Scan, chunk: Buffer, first: number, last: number, maxBytes: number): void {
  let from = 0;
  while (from < chunk.length) {
    const found = chunk.indexOf(NEWLINE, from);
    const end = found < 0 ? chunk.length : found + 1;
    if (scan.line >= first && scan.line < last && scan.keptBytes < maxBytes) {
      scan.kept.push(Buffer.from(chunk.subarray(from, end)));
      scan.keptBytes += end - from;
    }
    if (found >= 0) scan.line += 1;
    from = end;
  }
  scan.endsWithNewline = chunk[chunk.length - 1] === NEWLINE;
}

function cut(scan: Scan, request: FilePageRequest, totalLines: number | undefined, size: number): FilePage {
  const bytes = Buffer.concat(scan.kept);
  const whole = bytes.toString('utf8').replaceAll('\0', '');
  const end = endOfWholeLines(whole, request);
  const cutLine = end === 0 && whole !== '';
  const text = cutLine ? beginning(whole, request) : whole.slice(0, end);
  const lines = countLines(text);
  const more = cutLine || totalLines === undefined || request.offset + lines < totalLines;
  const plain = request.offset === 0 ? text.replace(/^\ufeff/, '') : text;
  return {
    text: plain,
    lines,
    more,
    cutLine,
    size,
    invalidUtf8: text.includes('\ufffd') && !isUtf8(bytes.subarray(0, Buffer.byteLength(text))),
    totalLines,
  };
}

/** Where the last line ends that fits; 0 when not even the first one does. */
function endOfWholeLines(text: string, request: FilePageRequest): number {
  const { maxChars, maxBytes = Number.POSITIVE_INFINITY, bytesPerLine = 0 } = request;
  let end = 0;
  let bytes = 0;
  while (end < text.length) {
    const found = text.indexOf('\n', end);
    const next = found < 0 ? text.length : found + 1;
    bytes += Buffer.byteLength(text.slice(end, next)) + bytesPerLine;
    if (next > maxChars || bytes > maxBytes) break;
    end = next;
  }
  return end;
}

/** As much as fits of a line that is too long; no character is cut in two. */
function beginning(line: string, { maxChars, maxBytes, bytesPerLine = 0 }: FilePageRequest): string {
  const text = line.slice(0, maxChars).replace(/[\ud800-\udbff]$/, '');
  if (maxBytes === undefined) return text;
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(maxBytes - bytesPerLine)).read);
}

function countLines(text: string): number {
  if (text === '') return 0;
  let count = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

async function refuseBinary(file: PageSource, requestedPath: string, size: number): Promise<void> {
  const start = Buffer.alloc(SNIFF);
  const { bytesRead } = await file.read(start, 0, SNIFF, 0);
  const at = start.subarray(0, bytesRead).indexOf(0);
  if (at < 0) return;
  const utf16 = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
  throw new FileProblem(
    'ExecutionFailed',
    utf16
      ? `${shown(requestedPath)} is UTF-16 text (${size} bytes); convert it first: exec with iconv -f UTF-16 -t UTF-8`
      : `${shown(requestedPath)} is a binary file (${size} bytes), not text`,
  );
}
