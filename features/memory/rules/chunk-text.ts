/**
 * Cuts a Markdown document into the pieces that a search finds: whole lines, below one heading if that is long enough.
 */

export interface Chunk {
  /** Lines from 1, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Headings above its first line, the outermost first: `Home > Kitchen`. */
  readonly heading: string;
  readonly text: string;
}

/**
 * Most characters of a piece with several lines. The vector of a longer one represents no single sentence in it
 * (docs/memory.md).
 */
const ENOUGH = 240;
/** Most characters of one line; a longer line is cut. */
const MAX = 600;
/**
 * Shorter pieces continue over a heading and into a long line, which limits the number of pieces by the document's
 * length.
 */
const MIN = 80;
/** Characters of a heading. */
const TITLE = 200;

const HEADING = /^ {0,3}(#{1,6})\s+(\S.*)$/;
/** Hashes may close a heading too. */
const CLOSING = /\s#+$/;
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;

/** Returns pieces in order, without blank ones. */
export function chunkText(text: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const trail: string[] = [];
  let open = { from: 1, to: 1, heading: '', text: '' };
  const next = (from: number): void => {
    if (open.text.trim() !== '') chunks.push({ ...open, text: open.text.trimEnd() });
    open = { from, to: from, heading: '', text: '' };
  };
  let fence = '';
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    fence = fenceAfter(fence, line);
    const [, marks, title = ''] = (fence === '' ? HEADING.exec(line) : null) ?? [];
    const { length } = open.text;
    if (marks === undefined ? line.trim() === '' && length >= ENOUGH / 2 : length >= MIN) next(index + 1);
    if (marks !== undefined) {
      // A level that the document skips stays empty.
      trail.length = marks.length - 1;
      trail.push(wholeCharacters(title.trim().replace(CLOSING, '').trim().slice(0, TITLE)));
    }
    for (let at = 0, piece = ''; at === 0 || at < line.length; at += piece.length || 1) {
      piece = wholeCharacters(line.slice(at, at + MAX));
      if (isFull(open.text.length, piece.length)) next(index + 1);
      if (open.text.trim() === '') open.heading = trail.filter(Boolean).join(' > ');
      open = { ...open, to: index + 1, text: `${open.text}${piece}\n` };
    }
  }
  next(0);
  return chunks;
}

/** The mark of the block of code that is open after `line`, or ''. Only a mark like it, as long or longer, closes one. */
function fenceAfter(open: string, line: string): string {
  const [, mark = '', info = ''] = FENCE.exec(line) ?? [];
  if (open === '') return mark.startsWith('`') && info.includes('`') ? '' : mark;
  return mark.startsWith(open) && info.trim() === '' ? '' : open;
}

/** Without half a character at the end. */
function wholeCharacters(text: string): string {
  return text.length > 1 ? text.replace(/[\ud800-\udbff]$/, '') : text;
}

/** Whether a piece of this length is full before this many more characters. */
function isFull(length: number, more: number): boolean {
  return length + more > (length < MIN ? MAX : ENOUGH);
}
