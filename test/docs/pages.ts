/** The pages for users, and what of them a machine can check: shell blocks with their expected output, and links. */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** All pages, as paths from the root. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'AGENTS.md',
  ...globSync(['docs/**/*.md', 'packages/*/README.md'], { cwd: ROOT }).toSorted(),
];

export interface ShellBlock {
  readonly line: number;
  readonly text: string;
  /** Why it does not run: `sh no-run: REASON` after the fence, or the mark of another test above it. */
  readonly notRun?: string;
  /**
   * The contents of a `text` block below, also after prose of the same section. Each line must be in the output, in
   * order; `…` matches anything.
   */
  readonly expected?: string;
}

export function readPage(page: string): string {
  return readFileSync(`${ROOT}/${page}`, 'utf8');
}

export function shellBlocks(page: string): readonly ShellBlock[] {
  const text = readPage(page);
  const fence =
    /^(?:<!-- (test: [a-z-]+) -->\n)?```(?:sh|bash)\b([^\n]*)\n(.*?)^```$(?:\n(?:(?!```|#)[^\n]*\n)*```text\n(.*?)^```$)?/gms;
  return [...text.matchAll(fence)].map((found) => {
    const [, mark, info = '', body = '', expected] = found;
    const notRun = mark ?? /no-run: *(.+)$/.exec(info)?.[1];
    return {
      line: text.slice(0, found.index).split('\n').length,
      text: body,
      ...(notRun === undefined ? {} : { notRun }),
      ...(expected === undefined ? {} : { expected }),
    };
  });
}

/** Returns undefined when `output` has the expected lines in order; else the first missing one. */
export function missingLine(expected: string, output: string): string | undefined {
  let rest = output;
  for (const line of expected.split('\n').filter((one) => one.trim() !== '')) {
    const pattern = line
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*');
    const found = new RegExp(pattern).exec(rest);
    if (found === null) return line;
    rest = rest.slice(found.index + found[0].length);
  }
  return undefined;
}

/** Links of the page into the repository: `path#anchor`, as written. */
export function localLinks(page: string): readonly string[] {
  const prose = readPage(page).replaceAll(/^```.*?^```$/gms, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((found) => found[1] ?? '')
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** The anchors that GitHub gives a page's headings. */
export function anchors(page: string): ReadonlySet<string> {
  const prose = readPage(page).replaceAll(/^```.*?^```$/gms, '');
  const seen = new Map<string, number>();
  return new Set(
    [...prose.matchAll(/^#+ +(.+)$/gm)].map((found) => {
      const name = (found[1] ?? '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-');
      const count = seen.get(name) ?? 0;
      seen.set(name, count + 1);
      return count === 0 ? name : `${name}-${count}`;
    }),
  );
}

/** The files of the feature that docs/features.md makes, by their paths. */
export function notesFeature(): readonly (readonly [path: string, text: string])[] {
  const files = readPage('docs/features.md').matchAll(
    /^`(features\/notes\/[^`]+)`:\n\n```\w+\n(.*?)^```$/gms,
  );
  return Array.from(files, ([, path = '', text = '']) => [path, text]);
}
