/** Folders that no command may name, whatever else is permitted. They cannot be switched off. */
import { globMayMatch } from './glob-may-match.ts';
import { pathWordsOf } from './path-words.ts';
import { argumentsOf, programOf, type ShellCommand, type ShellWord } from './shell-command.ts';
import { INTERPRETERS, SHELLS } from './parse/wrappers.ts';

/**
 * The denied path that the command names, or null. An entry is a relative name, denied at any position in a path, or an
 * absolute folder. An entry with a preceding `!` is an exemption below a denied one.
 */
export function deniedPath(command: ShellCommand, entries: readonly string[]): string | null {
  if (entries.length === 0) return null;
  const denied = entries
    .filter((entry) => !entry.startsWith('!'))
    .map(trimmed)
    .filter((entry) => entry !== '');
  const exempt = entries
    .filter((entry) => entry.startsWith('!'))
    .map((entry) => `${trimmed(entry.slice(1))}/`);
  const runsCode = INTERPRETERS.test(programOf(command)) || SHELLS.has(programOf(command));
  const words: readonly ShellWord[] = [
    ...(command.words[0] ? [command.words[0]] : []),
    ...pathWordsOf(command),
    ...(runsCode ? argumentsOf(command) : []),
    ...command.assignments.flatMap((each) => (each.value ? [each.value] : [])),
  ];
  for (const word of words) {
    for (const entry of denied) if (names(word, entry, exempt)) return entry;
  }
  return null;
}

function trimmed(entry: string): string {
  return entry.replace(/\/+$/, '');
}

function names(word: ShellWord, entry: string, exempt: readonly string[]): boolean {
  const path = word.value.replaceAll(/\/(?:\.?\/)+/g, '/');
  if (isNamed(path, word, entry, exempt) || isNamed(withoutParents(path), word, entry, exempt)) return true;
  if (!word.isGlob && !word.text.includes('{')) return false;
  const last = entry.split('/').findLast((part) => part !== '') ?? entry;
  return path
    .split(/[/,{}]/)
    .some((part) => /[*?[]/.test(part) && globMayMatch(part, last) && !isPlainStar(part));
}

/** `/tmp/../data` is `/data`. */
function withoutParents(path: string): string {
  if (!path.includes('/..')) return path;
  const kept: string[] = [];
  for (const part of path.split('/')) {
    const last = kept.at(-1);
    if (part === '..' && last !== undefined && last !== '..' && (last !== '' || kept.length === 1)) {
      if (last !== '') kept.pop();
    } else kept.push(part);
  }
  return kept.join('/');
}

/** Before the text that a variable has when it is unset or set: `${X:-`, `${X=`, `${X+`. */
const DEFAULT = /\$\{[\w@*#?!]+:?[-=+]$/;

function isNamed(path: string, word: ShellWord, entry: string, exempt: readonly string[]): boolean {
  for (let at = path.indexOf(entry); at >= 0; at = path.indexOf(entry, at + 1)) {
    const before = path[at - 1] ?? '';
    const after = path[at + entry.length] ?? '';
    const isStart = entry.startsWith('/') ? !/[\w.~-]/.test(before) : !/[\w.-]/.test(before);
    const isDefault = !word.isLiteral && DEFAULT.test(path.slice(0, at));
    if ((!isStart && !isDefault) || /[\w.-]/.test(after)) continue;
    const rest = `${path.slice(at)}/`;
    // The text of an unknown variable may lead out of the exempted folder.
    const isKnown = word.isLiteral || !/[$`]/.test(path);
    const isExempt =
      isKnown && exempt.some((each) => rest.startsWith(each)) && !path.split('/').includes('..');
    if (!isExempt) return true;
  }
  return false;
}

/** `*` alone never matches a name with a leading dot, and would deny everything for other names. */
function isPlainStar(part: string): boolean {
  return part === '*' || part === '**';
}
