/** Makes a text that reads otherwise than the original, and tells what each place of it stands for there. */

export interface DecodedView {
  readonly text: string;
  /** The part of the original that `[start, end)` of the view stands for. */
  original(start: number, end: number): { readonly start: number; readonly end: number };
}

export interface ViewBuilder {
  /** What of the original has been read. */
  readonly at: number;
  /** `piece` stands for `[start, end)` of the original; in order. */
  replace(start: number, end: number, piece: string): void;
  finish(): DecodedView;
}

export function createView(text: string): ViewBuilder {
  const parts: string[] = [];
  // For each piece: where it begins in the view and in the original, and where the original goes on after it.
  const viewAt: number[] = [];
  const from: number[] = [];
  const to: number[] = [];
  let length = 0;
  let at = 0;
  const add = (piece: string, start: number, end: number): void => {
    if (piece === '') return;
    viewAt.push(length);
    from.push(start);
    to.push(end);
    parts.push(piece);
    length += piece.length;
  };
  const isCopy = (piece: number): boolean =>
    (parts[piece] as string).length === num(to, piece) - num(from, piece);
  return {
    get at() {
      return at;
    },
    replace(start, end, piece) {
      if (start > at) add(text.slice(at, start), at, start);
      add(piece, start, end);
      at = end;
    },
    finish() {
      add(text.slice(at), at, text.length);
      return {
        text: parts.join(''),
        original(start, end) {
          const first = pieceOf(viewAt, start);
          const last = pieceOf(viewAt, end - 1);
          return {
            start: isCopy(first) ? num(from, first) + start - num(viewAt, first) : num(from, first),
            end: isCopy(last) ? num(from, last) + end - num(viewAt, last) : num(to, last),
          };
        },
      };
    },
  };
}

function num(list: readonly number[], at: number): number {
  return list[at] as number;
}

/** The piece that holds position `at` of the view. */
function pieceOf(viewAt: readonly number[], at: number): number {
  let low = 0;
  let high = viewAt.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (num(viewAt, middle) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
