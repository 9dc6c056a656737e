/**
 * Reads where ripgrep found something: file, line, offset. The text itself is read separately, from the file that may
 * be read.
 */

export interface FoundLine {
  /** Counts from 1. */
  readonly number: number;
  /** Offset of the line's first byte. */
  readonly offset: number;
  /** False for a line of context. */
  readonly match: boolean;
}

export interface FoundFile {
  readonly path: string;
  readonly lines: FoundLine[];
}

/**
 * Output of the form `path NUL line:offset:…`, with `-` for context. It is limited to one column, so that a line of
 * megabytes becomes a remark of some bytes: as JSON, eight megabytes of matches were half a gigabyte.
 */
export const PLACE_ARGS = [
  '--null',
  '--line-number',
  '--byte-offset',
  '--with-filename',
  '--no-heading',
  '--no-context-separator',
  '--color=never',
  '--max-columns=1',
] as const;

const PLACE = /^(?:\.\/)?([^\0]+)\0(\d+)([:-])(\d+)[:-]/;

/** Number of matches and context lines together. */
const MAX_LINES = 20_000;

/** `take` returns false after `maxMatches` matching lines. */
export function createMatchReader(maxMatches: number): {
  readonly files: readonly FoundFile[];
  take(line: string): boolean;
} {
  const files: FoundFile[] = [];
  let matches = 0;
  let lines = 0;
  return {
    files,
    take(line) {
      const [, path, number, mark, offset] = PLACE.exec(line) ?? [];
      // A name with a line break is not shown.
      if (path === undefined) return true;
      if (files.at(-1)?.path !== path) files.push({ path, lines: [] });
      files.at(-1)?.lines.push({ number: Number(number), offset: Number(offset), match: mark === ':' });
      if (mark === ':') matches += 1;
      lines += 1;
      return matches < maxMatches && lines < MAX_LINES;
    },
  };
}
