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

const HEADING = /^(#{1,6})\s+(\S.*)$/;
const FENCE = /^\s*(?:```|~~~)/;

/** Returns pieces in order, without blank ones. */
export function chunkText(text: string): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const trail: string[] = [];
  let open = { from: 1, to: 1, heading: '', text: '' };
  const next = (from: number): void => {
    if (open.text.trim() !== '') chunks.push({ ...open, text: open.text.trimEnd() });
    open = { from, to: from, heading: '', text: '' };
  };
  let isCode = false;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (FENCE.test(line)) isCode = !isCode;
    const [, marks, title = ''] = (isCode ? null : HEADING.exec(line)) ?? [];
    const { length } = open.text;
    if (marks === undefined ? line.trim() === '' && length >= ENOUGH / 2 : length >= MIN) next(index + 1);
    if (marks !== undefined) trail.splice(marks.length - 1, trail.length, title.trim().slice(0, TITLE));
    for (let at = 0; at === 0 || at < line.length; at += MAX) {
      const piece = line.slice(at, at + MAX);
      if (isFull(open.text.length, piece.length)) next(index + 1);
      if (open.text.trim() === '') open.heading = trail.filter(Boolean).join(' > ');
      open = { ...open, to: index + 1, text: `${open.text}${piece}\n` };
    }
  }
  next(0);
  return chunks;
}

/** Whether a piece of this length is full before this many more characters. */
function isFull(length: number, more: number): boolean {
  return length + more > (length < MIN ? MAX : ENOUGH);
}
