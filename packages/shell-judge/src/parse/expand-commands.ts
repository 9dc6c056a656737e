/** Every simple command that a text may run, including those within wrappers and inner scripts. */
import { parseShell } from './parse-shell.ts';
import type { ParsedShell, ShellCommand, ShellMark } from '../shell-command.ts';
import { unwrapCommand } from './unwrap-command.ts';

/** Greatest nesting of wrappers and scripts. */
const MAX_NESTING = 12;
const MAX_EXPANDED = 4000;

/** `problem` is the first of all problems. */
export function expandCommands(source: string): ParsedShell {
  const found: ShellCommand[] = [];
  const functions = new Set<string>();
  const marks = new Set<ShellMark>();
  let problem: string | null = null;

  const addScript = (text: string, via: readonly string[], depth: number): void => {
    const parsed = parseShell(text);
    problem ??= parsed.problem;
    for (const mark of parsed.marks) marks.add(mark);
    for (const name of parsed.functions) functions.add(name);
    for (const command of parsed.commands) addCommand({ ...command, via: [...via, ...command.via] }, depth);
  };
  const addCommand = (command: ShellCommand, depth: number, isVariant = false): void => {
    if (depth > MAX_NESTING || found.length >= MAX_EXPANDED) {
      problem ??= 'the command is too deep or too long to be judged';
      return;
    }
    found.push(command);
    if (!isVariant) for (const each of variantsOf(command)) addCommand(each, depth, true);
    const inner = unwrapCommand(command);
    for (const each of inner.commands) addCommand(each, depth + 1);
    for (const script of inner.scripts) {
      if (!script.isLiteral) marks.add('unknown_script');
      addScript(script.text, script.via, depth + 1);
    }
  };
  addScript(source, [], 0);
  return { commands: found, functions, marks, problem };
}

/**
 * `for c in test install; do npm $c; done`: the command once for each further value of its words, so that all rules see
 * every value. An empty value is no word unless it is quoted.
 */
function variantsOf(command: ShellCommand): readonly ShellCommand[] {
  return command.words.flatMap((word, at) =>
    (word.choices ?? [])
      .filter((value) => value !== word.value)
      .map((value) => {
        const own = value === '' && word.text.startsWith('$') ? [] : [{ ...word, value }];
        return { ...command, words: [...command.words.slice(0, at), ...own, ...command.words.slice(at + 1)] };
      }),
  );
}
