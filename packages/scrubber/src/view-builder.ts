/** Builds a view of a text with replaced parts, and maps positions in it to the original. */

export interface DecodedView {
  readonly text: string;
  /** The part of the original that `[start, end)` of the view represents. */
  original(start: number, end: number): { readonly start: number; readonly end: number };
}

export interface ViewBuilder {
  /** Position up to which the original has been read. */
  readonly at: number;
  /** `piece` represents `[start, end)` of the original; calls are in order. */
  replace(start: number, end: number, piece: string): void;
  finish(): DecodedView;
}

/** A part of the view, and the part of the original that it represents. */
interface Piece {
  readonly at: number;
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

export function createView(text: string): ViewBuilder {
  const pieces: Piece[] = [];
  let length = 0;
  let at = 0;
  const add = (piece: string, from: number, to: number): void => {
    if (piece === '') return;
    pieces.push({ at: length, text: piece, from, to });
    length += piece.length;
  };
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
        text: pieces.map((piece) => piece.text).join(''),
        original(start, end) {
          const [first, last] = [pieceAt(pieces, start), pieceAt(pieces, end - 1)];
          return {
            start: isCopy(first) ? first.from + start - first.at : first.from,
            end: isCopy(last) ? last.from + end - last.at : last.to,
          };
        },
      };
    },
  };
}

function isCopy({ text, from, to }: Piece): boolean {
  return text.length === to - from;
}

/** The piece that contains position `at` of the view. */
function pieceAt(pieces: readonly Piece[], at: number): Piece {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle] as Piece).at <= at) low = middle;
    else high = middle - 1;
  }
  return pieces[low] as Piece;
}
