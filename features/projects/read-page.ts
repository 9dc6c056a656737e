/** Files of front matter and text, and what is wrong with one, with its line. */
import { isMap, isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { isRecord } from '#domain/outside-value.ts';
import { issueWords, plainIssues } from '#domain/schema/problem-words.ts';

export type Path = readonly PropertyKey[];

export interface Page {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The text for people, with the line of the field or of what contains it: `:3: words`, or `: words`. */
  wrong(path: Path, words: string): string;
}

/** The front matter begins in the second line of its file. */
const LINES_BEFORE = 1;

/** Front matter of YAML between two lines of ---, then text; or what is wrong. */
export function readPage(content: string): Page | string {
  const [, front, text] = /^\uFEFF?---\r?\n(?:([^]*?)\r?\n)?---(?:\r?\n([^]*))?$/.exec(content) ?? [];
  if (text === undefined && front === undefined && !/^\uFEFF?---\r?\n---/.test(content))
    return ':1: must begin with front matter, between two lines of ---';
  const lines = new LineCounter();
  const document = parseDocument(front ?? '', { prettyErrors: true, lineCounter: lines });
  const [error] = document.errors;
  if (error)
    return `:${(error.linePos?.[0].line ?? 0) + LINES_BEFORE}: ${error.message.split(/ at line \d|\n/)[0]}`;
  const fields: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  if (!isRecord(fields)) return ':2: the front matter must hold names and values';
  return {
    fields,
    text: (text ?? '').trim(),
    wrong(path, words) {
      const at = offsetOf(document, path);
      return at === undefined ? `: ${words}` : `:${lines.linePos(at).line + LINES_BEFORE}: ${words}`;
    },
  };
}

/** Where the field begins, or what contains it; undefined when nothing on the way is in the file. */
function offsetOf(document: Document, path: Path): number | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const name = path[length - 1];
    const within = length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = isMap(within)
      ? within.items.find((pair) => String(pair.key) === String(name))?.key
      : undefined;
    const node = key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

/** `namedAs`: the path in the file, where it is another than in the schema. */
export function parsedBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  page: Page,
  namedAs: (path: Path) => Path = (path) => path,
): z.output<Schema> | readonly string[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  return plainIssues(parsed.error.issues).flatMap((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : [];
    const paths = unknown.length > 0 ? unknown.map((key) => [...issue.path, key]) : [issue.path];
    const words =
      unknown.length > 0
        ? 'is not a known field'
        : isMissing(value, issue.path)
          ? 'is required'
          : issueWords(issue);
    return paths.map((path) => {
      const named = namedAs(path);
      return page.wrong(named, `${named.join('.')}: ${words}`);
    });
  });
}

function isMissing(value: unknown, path: Path): boolean {
  let at = value;
  for (const name of path) at = typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined;
  return at === undefined;
}
