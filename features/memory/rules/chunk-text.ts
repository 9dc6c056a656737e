/** Cuts a Markdown document into the pieces that a search finds: whole lines, below one heading where that is long enough. */

export interface Chunk {
  /** From 1, both included. */
  readonly from: number;
  readonly to: number;
  /** Headings above its first line, the outermost first: `Home > Kitchen`. */
  readonly heading: string;
  readonly text: string;
}

/** Characters that a piece of several lines has at most: a vector of more says nothing of one sentence in it any more (docs/memory.md). */
const ENOUGH = 240;
/** Of one line, which is cut if it is longer. */
const MAX = 600;
/** Shorter ones go on over a heading and into a long line, which bounds the pieces of a document by its length. */
const MIN = 80;
/** Characters of a heading. */
const TITLE = 200;

const HEADING = /^(#{1,6})\s+(\S.*)$/;
const FENCE = /^\s*(?:```|~~~)/;

/** In order; blank pieces are left out. */
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

/** Of a piece of such a length, for so much more. */
function isFull(length: number, more: number): boolean {
  return length + more > (length < MIN ? MAX : ENOUGH);
}
