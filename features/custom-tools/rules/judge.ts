/**
 * The verdict on one call of a custom tool (CU-2). Its author is responsible for what the template itself does. Deny
 * categories and closed paths still apply to the whole command, and what only the arguments add needs approval.
 */
import {
  verdictOnDoubt,
  type CommandProblem,
  commandWords,
  verdictOnDenial,
  expandCommands,
  findProblems,
  foldCommand,
  isHarmless,
  MAX_COMMAND_LENGTH,
  type ParsedShell,
  type ShellRules,
  type ShellVerdict,
  unclearProblem,
} from '@tempoclaw/shell-judge';
import type { Parameters } from './check-parameters.ts';
import { type Arguments, quoteWord, valueOf } from './render.ts';
import { fill, type Template } from './template.ts';

/** Rules of the agent. With `ask: off`, nobody can approve, so what would need approval is denied. */
export type CustomRules = Pick<ShellRules, 'categoriesOff' | 'deniedPaths' | 'ask'>;

/**
 * Judges the command that `renderCommand` makes from the same template and arguments. It ignores arguments that
 * `renderCommand` refuses.
 */
export function judgeCustomTool(
  template: Template,
  parameters: Parameters,
  args: Arguments,
  rules: CustomRules,
): ShellVerdict {
  const { ask } = rules;
  const values = template.placeholders.map((place) => {
    const value = valueOf(place, parameters, args);
    return value.ok ? value.text : '';
  });
  const actual = fill(
    template.texts,
    values.map((text) => (text === null ? '' : quoteWord(visible(text)))),
  );
  if (actual.length > MAX_COMMAND_LENGTH)
    return verdictOnDoubt({ ask }, unclearProblem('too_long', 'the command is too long to be judged'), []);
  const neutral = fill(
    template.texts,
    values.map((text) => (text === null ? '' : quoteWord(NEUTRAL))),
  );
  const shell = expandCommands(actual);
  const words = commandWords(shell);
  const denial = problemsOf(shell, rules).find((each) => each.severity === 'deny' && !each.isForAuthors);
  if (denial) return verdictOnDenial(denial, words);
  const added = addedProblem(shell, expandCommands(neutral), rules);
  if (added) return verdictOnDoubt({ ask }, added, words);
  return {
    decision: 'allow',
    category: null,
    rule: 'custom_template',
    reason: 'the arguments add nothing to what the template does',
    command_words: words,
  };
}

/** A value that no rule matches. */
const NEUTRAL = 'a';

/** The text as a reader sees it. The program may get more characters, which are still data for it. */
function visible(text: string): string {
  const kept = text.replace(
    /[^\P{Cc}\n\t]|\p{Default_Ignorable_Code_Point}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    '',
  );
  return kept.trim() === '' ? kept : foldCommand(kept).folded;
}

function problemsOf(shell: ParsedShell, rules: CustomRules): readonly CommandProblem[] {
  return findProblems(shell, rules.categoriesOff, rules.deniedPaths);
}

/** Arguments are quoted words, so both commands have the same parts, and these are compared one by one. */
function addedProblem(
  actual: ParsedShell,
  neutral: ParsedShell,
  rules: CustomRules,
): Pick<ShellVerdict, 'category' | 'rule' | 'reason'> | undefined {
  if (actual.commands.length !== neutral.commands.length)
    return unclearProblem('unclear_arguments', 'the arguments change what the command is');
  const alone = (shell: ParsedShell, index: number): ParsedShell => ({
    ...shell,
    commands: shell.commands.slice(index, index + 1),
  });
  for (const [index, command] of actual.commands.entries()) {
    const before = new Set(problemsOf(alone(neutral, index), rules).map(nameOf));
    const added = problemsOf(alone(actual, index), rules).find((problem) => !before.has(nameOf(problem)));
    if (added) return added;
    const plain = neutral.commands[index];
    if (plain && isHarmless(plain, neutral.functions) && !isHarmless(command, actual.functions))
      return {
        category: null,
        rule: 'not_known',
        reason: `${command.words[0]?.value.slice(0, 80) ?? 'it'} with these arguments is not known to be harmless`,
      };
  }
  return undefined;
}

function nameOf({ category, rule, reason }: CommandProblem): string {
  return `${category}/${rule}/${reason}`;
}
