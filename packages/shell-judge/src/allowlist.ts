/** What may run without asking: an owner's globs, and entries that a person's “always” stored. */
import { matchGlob } from './glob/match-glob.ts';
import { setsOnlyHarmless } from './safe/harmless-variables.ts';
import type { ShellCommand } from './shell-command.ts';

/** The file that a name starts. */
export interface ResolvedProgram {
  /** The absolute path that PATH finds. */
  readonly path: string;
  /** The file that links lead to, when it is another. */
  readonly file?: string;
}

/** Null when the name starts nothing, or a file that the senders of commands could have written. */
export type ResolveProgram = (name: string) => ResolvedProgram | null;

export interface StoredEntry extends ResolvedProgram {
  readonly args: readonly string[];
}

/** Greatest number of characters of an entry, so that the person who allows it sees it whole. */
const MAX_ENTRY = 2_000;

/** Says why it is not stored, or null. */
export function entryProblem(pattern: string): string | null {
  return pattern.length > MAX_ENTRY ? 'it is too long to be shown whole' : null;
}

/**
 * Whose programs commands find: this machine's, those of its system folders (bubblewrap shows no others), or those of
 * an image, about which this machine knows nothing. On the `open_host` nothing confines a command.
 */
export type CommandPlace = 'host' | 'open_host' | 'system' | 'image';

/** The resolver of a machine, for commands that run at `place`. */
export function resolverAt(place: CommandPlace, resolve: ResolveProgram): ResolveProgram {
  if (place === 'host' || place === 'open_host') return resolve;
  if (place === 'image') return () => null;
  return (name) => {
    const found = resolve(name);
    return found && isOfSystem(found.path) && isOfSystem(found.file ?? found.path) ? found : null;
  };
}

function isOfSystem(path: string): boolean {
  return /^\/(?:usr|bin|sbin|lib|lib32|lib64|libx32)\//.test(path);
}

/** Canonical, so that equal entries are equal texts. */
export function formatEntry({ path, file, args }: StoredEntry): string {
  return JSON.stringify({ path, file: file === undefined || file === path ? undefined : file, args });
}

/** For people: the program's path and its arguments; the text itself when it is not an entry of a command. */
export function displayEntry(pattern: string): string {
  const entry = parseEntry(pattern);
  return entry ? [entry.path, ...entry.args.map(quoted)].join(' ') : pattern;
}

/** Undefined for an entry of another tool. */
export function parseEntry(pattern: string): StoredEntry | undefined {
  try {
    const entry = JSON.parse(pattern) as Partial<StoredEntry> | null;
    return typeof entry?.path === 'string' && Array.isArray(entry.args) ? (entry as StoredEntry) : undefined;
  } catch {
    // An entry of another tool, whose patterns have another format.
    return undefined;
  }
}

function quoted(word: string): string {
  if (/\p{Cc}/u.test(word)) return `$'${word.replaceAll(/[\p{Cc}\\']/gu, escaped)}'`;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** The form that bash reads in `$'…'`. */
function escaped(char: string): string {
  if (char === '\\' || char === "'") return `\\${char}`;
  return `\\x${(char.codePointAt(0) ?? 0).toString(16).padStart(2, '0')}`;
}

/**
 * A person has permanently allowed this file with exactly these arguments. Another file of the same name – an earlier
 * folder of PATH, `./gh` – is another program.
 */
export function isStored(command: ShellCommand, stored: readonly string[], resolve: ResolveProgram): boolean {
  if (stored.length === 0 || command.assignments.length > 0 || !isPlain(command)) return false;
  const [name = '', ...args] = command.words.map((word) => word.value);
  const program = resolve(name);
  return program !== null && stored.includes(formatEntry({ ...program, args }));
}

/** Folders of the system, in which senders of commands write nothing. */
const SYSTEM_FOLDER = /^(?:\/usr)?\/s?bin\/(?=[\w.+-]+$)/;

/**
 * An owner's entry covers the command; a bare program name covers it with any arguments. A program of a system folder is
 * also meant by its name alone: `ls` covers `/usr/bin/ls`, and not `./ls`. Unknown words match nothing. Variables that
 * change nothing but the program's language, mode or output are no part of what an entry covers.
 */
export function isListed(command: ShellCommand, allowlist: readonly string[]): boolean {
  if (!isPlain(command) || !setsOnlyHarmless(command)) return false;
  if (command.words.length === 0) return command.assignments.length > 0;
  const [program = '', ...args] = command.words.map((word) => word.value);
  return [program, program.replace(SYSTEM_FOLDER, '')].some((name) => {
    const line = [name, ...args].join(' ');
    return allowlist.some((entry) => entry === name || matchGlob(entry, line));
  });
}

/** All words are known, and nothing is written. */
function isPlain(command: ShellCommand): boolean {
  return (
    !command.isOpen &&
    command.words.every((word) => word.isLiteral && !word.isGlob && !word.isAmbiguous) &&
    command.redirects.every(
      (each) => each.target === null || /^(?:\d+|-|\/dev\/null)$/.test(each.target.value),
    )
  );
}
