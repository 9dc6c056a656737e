/**
 * What people said in conversations, as a document of memory: a line for each statement, with the days on which it held
 * and its source. A statement that replaces another ends it. Ended ones stay below, so that what held before is found
 * too.
 */

/**
 * For sessions that had read nothing external, and for the others, whose statements are marked wherever they are read.
 */
export const CONVERSATIONS_FILE = 'memory/conversations.md';
export const OUTSIDE_CONVERSATIONS_FILE = 'memory/conversations-outside.md';

export const STATEMENT_LIMITS = {
  /** Characters. */
  about: 80,
  text: 300,
  /** Statements of one reading of a conversation. */
  count: 30,
  /** Lines of the document for statements that hold and for ended ones; the oldest are removed. */
  current: 400,
  ended: 200,
} as const;

export interface Statement {
  /** What it is about, in a few words: statements with the same words may replace each other. */
  readonly about: string;
  readonly text: string;
  /** YYYY-MM-DD, the first day on which it is known to hold. */
  readonly from: string;
  readonly session: string;
  readonly turn: string;
}

export interface NewStatement extends Statement {
  /** Only one such statement holds at a time. */
  readonly isSingle: boolean;
}

interface KeptStatement extends Statement {
  /** The last day on which it was said again. */
  readonly again?: string | undefined;
  /** The day on which another statement replaced it; absent while it holds. */
  readonly to?: string | undefined;
}

const TITLE = '# What was said in conversations';
const NOTE =
  'Made from what users said, each line with its session and turn. Change or remove lines as you like; what is removed stays so until it is said again.';
const CURRENT = '## What holds';
const ENDED = '## What held before';

const LINE =
  /^- (?:since (\d{4}-\d\d-\d\d)|(\d{4}-\d\d-\d\d) to (\d{4}-\d\d-\d\d)): (.+) \[([^[\];]+); session ([^\s;]+), ([^\s;\]]+)(?:; again (\d{4}-\d\d-\d\d))?\]$/;

/**
 * The document with the new statements; repeats and replacements are merged into the existing ones. Returns undefined
 * if nothing is new.
 */
export function addStatements(
  document: string | undefined,
  added: readonly NewStatement[],
): string | undefined {
  if (added.length === 0) return undefined;
  const { before, statements } = readStatements(document);
  const current = statements.filter(({ to }) => to === undefined);
  const ended = statements.filter(({ to }) => to !== undefined);
  for (const one of added) {
    const known = current.find((other) => isSame(other, one));
    if (known) {
      if (one.isSingle && wasReplaced(ended, one, known.from)) insertEnded(ended, one, known.from);
      if (one.from <= (known.again ?? known.from)) continue;
      current.splice(current.indexOf(known), 1);
      current.unshift({ ...known, again: one.from });
      continue;
    }
    const others = one.isSingle ? current.filter((other) => isAboutTheSame(other, one)) : [];
    for (const other of others.filter(({ from }) => from <= one.from)) {
      current.splice(current.indexOf(other), 1);
      ended.unshift({ ...other, to: one.from });
    }
    // A statement about an earlier time, such as where somebody lived before, ends no later one.
    const [later] = others.flatMap(({ from }) => (from > one.from ? [from] : [])).toSorted();
    if (later === undefined) current.unshift(one);
    else insertEnded(ended, one, later);
  }
  const text = [
    ...before,
    CURRENT,
    ...current.slice(0, STATEMENT_LIMITS.current).map(lineOf),
    ...(ended.length > 0 ? ['', ENDED, ...ended.slice(0, STATEMENT_LIMITS.ended).map(lineOf)] : []),
    '',
  ].join('\n');
  return text === document ? undefined : text;
}

/** Whether another statement held between this one and the same one, said later. */
function wasReplaced(ended: readonly KeptStatement[], one: Statement, later: string): boolean {
  return ended.some(
    (other) =>
      isAboutTheSame(other, one) && !isSame(other, one) && one.from < other.from && other.from < later,
  );
}

/** Puts a statement about an earlier time between those that held before and after it. */
function insertEnded(ended: KeptStatement[], one: Statement, later: string): void {
  const others = ended.filter((other) => isAboutTheSame(other, one));
  const isKnown = ({ from, to = later }: KeptStatement): boolean => from <= one.from && one.from < to;
  if (others.some((other) => isSame(other, one) && isKnown(other))) return;
  const [to = later] = others
    .map(({ from }) => from)
    .filter((from) => from > one.from)
    .toSorted();
  for (const other of others.filter(isKnown)) ended[ended.indexOf(other)] = { ...other, to: one.from };
  ended.unshift({ ...one, to });
}

/** Statements that hold, the newest first. */
export function currentStatements(document: string | undefined): readonly Statement[] {
  return readStatements(document).statements.filter(({ to }) => to === undefined);
}

/** Lines that people have added stay, above the others. */
function readStatements(document: string | undefined): {
  readonly before: readonly string[];
  readonly statements: readonly KeptStatement[];
} {
  const before: string[] = document === undefined ? [TITLE, '', NOTE, ''] : [];
  const statements: KeptStatement[] = [];
  for (const line of document?.split('\n') ?? []) {
    const [, since, from = since, to, text, about, session, turn, again] = LINE.exec(line) ?? [];
    if (from && text && about && session && turn)
      statements.push({ about, text, from, to, session, turn, again });
    else if (line !== CURRENT && line !== ENDED) before.push(line);
  }
  return { before: [...before.join('\n').trimEnd().split('\n'), ''], statements };
}

function lineOf({ about, text, from, to, session, turn, again }: KeptStatement): string {
  const time = to === undefined ? `since ${from}` : `${from} to ${to}`;
  const repeat = again === undefined ? '' : `; again ${again}`;
  return `- ${time}: ${text} [${about}; session ${session}, ${turn}${repeat}]`;
}

/** One line without the characters of the line's own format; '' if nothing is left. */
export function statementText(value: string, max: number): string {
  const line = value
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/\[/g, '(')
    .replace(/\]/g, ')')
    .replaceAll(';', ',')
    .trim();
  return line
    .slice(0, max)
    .toWellFormed()
    .replace(/[\s.]+$/, '');
}

function isAboutTheSame(one: Statement, other: Statement): boolean {
  return keyOf(one.about) === keyOf(other.about);
}

function isSame(one: Statement, other: Statement): boolean {
  return keyOf(one.text) === keyOf(other.text);
}

function keyOf(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
