/** Every simple command that a text may run, including those within wrappers and inner scripts. */
import { parseShell } from './parse-shell.ts';
import type { ParsedShell, ShellCommand, ShellMark } from '../shell-command.ts';
import { unwrapCommand } from './unwrap-command.ts';

/** Greatest nesting of wrappers and scripts. */
const MAX_NESTING = 12;
const MAX_EXPANDED = 4000;
/** Words and redirections of all variants: each value of a word makes one, so `{a,b}` a thousand times would make a million words. */
const MAX_VARIANT_WORDS = 20_000;
/** The problem of a command that would take too long to judge. */
export const TOO_LONG = 'the command is too deep or too long to be judged';

/** `problem` is the first of all problems. */
export function expandCommands(source: string): ParsedShell {
  const found: ShellCommand[] = [];
  const functions = new Set<string>();
  const marks = new Set<ShellMark>();
  let problem: string | null = null;
  let variantWords = 0;

  const addScript = (text: string, via: readonly string[], depth: number): void => {
    const parsed = parseShell(text);
    problem ??= parsed.problem;
    for (const mark of parsed.marks) marks.add(mark);
    for (const name of parsed.functions) functions.add(name);
    for (const command of parsed.commands) addCommand({ ...command, via: [...via, ...command.via] }, depth);
  };
  const addCommand = (command: ShellCommand, depth: number, isVariant = false): void => {
    if (depth > MAX_NESTING || found.length >= MAX_EXPANDED) {
      problem ??= TOO_LONG;
      return;
    }
    found.push(command);
    if (!isVariant) addVariants(command, depth);
    const inner = unwrapCommand(command);
    for (const each of inner.commands) addCommand(each, depth + 1);
    for (const script of inner.scripts) {
      if (!script.isLiteral) marks.add('unknown_script');
      addScript(script.text, script.via, depth + 1);
    }
  };
  // The commands themselves are judged also when there are too many variants.
  const addVariants = (command: ShellCommand, depth: number): void => {
    for (const each of variantsOf(command)) {
      variantWords += each.words.length + each.redirects.length;
      if (variantWords > MAX_VARIANT_WORDS) {
        problem ??= TOO_LONG;
        return;
      }
      addCommand(each, depth, true);
    }
  };
  addScript(source, [], 0);
  return { commands: found, functions, marks, problem };
}

/**
 * `for c in test install; do npm $c; done`: the command once for each further value of its words, so that all rules see
 * every value. An empty value is no word unless it is quoted.
 */
function* variantsOf(command: ShellCommand): Generator<ShellCommand> {
  for (const [at, word] of command.words.entries())
    for (const value of word.choices ?? []) {
      if (value === word.value) continue;
      const own = value === '' && word.text.startsWith('$') ? [] : [{ ...word, value }];
      yield { ...command, words: [...command.words.slice(0, at), ...own, ...command.words.slice(at + 1)] };
    }
}
