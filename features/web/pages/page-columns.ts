/** Orders the text of a page with columns as people read it. */

/** A piece of text: from the left and the top of the page, in its own units. */
export interface Piece {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Position of its baseline. */
  readonly top: number;
  readonly size: number;
}

/** Columns are further apart than this, in sizes of the text; words are closer. */
const GUTTER = 0.8;
/** Lines that a column has at least. */
const MIN_LINES = 4;
/** How much of its column a usual line of prose fills; cells of tables fill less. */
const MIN_FILLED = 0.55;
/** How often columns beside each other are divided into two. */
const MAX_DEPTH = 2;
/** Pieces of a page that are ordered; with more, their order stays. */
const MAX_PIECES = 5_000;

/** Returns undefined if it has no columns, because then its own order is as good. */
export function readColumns(pieces: readonly Piece[]): string | undefined {
  if (pieces.length > MAX_PIECES) return undefined;
  const lines = linesOf(pieces);
  const gutter = gutterOf(lines);
  return gutter === undefined ? undefined : textOf(splitAt(lines, gutter, 1));
}

/** Pieces of one baseline that follow each other closely. */
function linesOf(pieces: readonly Piece[]): Piece[] {
  const lines: Piece[] = [];
  for (const piece of byPlace(pieces.filter(({ text }) => text.trim() !== ''))) {
    const before = lines.at(-1);
    const isSame = before && Math.abs(before.top - piece.top) < piece.size / 2;
    const width = before ? piece.left - before.right : 0;
    if (!isSame || width > piece.size * GUTTER || width < -piece.size) lines.push(piece);
    else {
      const text = before.text + (width > piece.size * 0.15 ? ' ' : '') + piece.text;
      lines[lines.length - 1] = { ...before, text, right: Math.max(before.right, piece.right) };
    }
  }
  return lines;
}

/** Sorts row by row, from the left; baselines that are nearly equal are one. */
function byPlace(pieces: readonly Piece[]): Piece[] {
  const rows: Piece[][] = [];
  for (const piece of pieces.toSorted((one, other) => one.top - other.top)) {
    const row = rows.at(-1);
    const first = row?.[0];
    if (row && first && piece.top - first.top < Math.min(first.size, piece.size) / 2) row.push(piece);
    else rows.push([piece]);
  }
  return rows.flatMap((row) => row.toSorted((one, other) => one.left - other.left));
}

/** Where few lines cross, and prose is on both sides. */
function gutterOf(lines: readonly Piece[]): number | undefined {
  if (lines.length < 2 * MIN_LINES) return undefined;
  const remaining = Math.min(...lines.map((line) => line.left));
  const width = Math.max(...lines.map((line) => line.right)) - remaining;
  // Each right column begins somewhere, so the places to try are where lines begin.
  const starts = [...new Set(lines.map((line) => Math.floor(line.left)))].filter(
    (start) => start > remaining + width * 0.2 && start < remaining + width * 0.8,
  );
  return starts.find((start) => isGutter(lines, start, remaining, remaining + width));
}

function isGutter(lines: readonly Piece[], at: number, begin: number, end: number): boolean {
  const before = lines.filter(({ right }) => right <= at);
  const behind = lines.filter(({ left }) => left >= at);
  if (before.length < MIN_LINES || behind.length < MIN_LINES) return false;
  if (lines.length - before.length - behind.length > lines.length / 3) return false;
  return areProse(before, at - begin) && areProse(behind, end - at) && overlap(before, behind);
}

function areProse(lines: readonly Piece[], width: number): boolean {
  const widths = lines.map(({ left, right }) => right - left).toSorted((one, other) => one - other);
  return (widths[Math.floor(widths.length / 2)] ?? 0) >= width * MIN_FILLED;
}

function overlap(one: readonly Piece[], other: readonly Piece[]): boolean {
  const topOf = (lines: readonly Piece[]) => Math.min(...lines.map(({ top }) => top));
  const endOf = (lines: readonly Piece[]) => Math.max(...lines.map(({ top }) => top));
  return Math.min(endOf(one), endOf(other)) > Math.max(topOf(one), topOf(other));
}

/** A line that crosses separates what is above it from what is below. */
function splitAt(lines: readonly Piece[], gutter: number, depth: number): Piece[] {
  const isAcross = ({ left, right }: Piece) => left < gutter && right > gutter;
  const across = lines.filter(isAcross).toSorted((one, other) => one.top - other.top);
  const rest = lines.filter((line) => !isAcross(line));
  const read: Piece[] = [];
  let from = Number.NEGATIVE_INFINITY;
  for (const line of [...across, undefined]) {
    const to = line?.top ?? Number.POSITIVE_INFINITY;
    const between = rest.filter(({ top }) => top >= from && top < to);
    for (const side of [
      between.filter(({ left }) => left < gutter),
      between.filter(({ left }) => left >= gutter),
    ])
      read.push(...deeper(side, depth));
    if (line) read.push(line);
    from = to;
  }
  return read;
}

function deeper(lines: readonly Piece[], depth: number): Piece[] {
  const gutter = depth < MAX_DEPTH ? gutterOf(lines) : undefined;
  return gutter === undefined ? byPlace(lines) : splitAt(lines, gutter, depth + 1);
}

function textOf(lines: readonly Piece[]): string {
  return lines
    .map((line, at) => {
      const before = lines[at - 1];
      const isSame = before && Math.abs(before.top - line.top) < line.size / 2 && before.right <= line.left;
      return (at === 0 ? '' : isSame && !isFarRight(before, line) ? ' ' : '\n') + line.text;
    })
    .join('');
}

/** The top of the next column may be on the same baseline as the end of this one. */
function isFarRight(before: Piece, line: Piece): boolean {
  return line.left - before.right > line.size * 4;
}
