/** Problems of a command: rows of the categories, denied paths, and text that cannot be judged. */
import { downloadThenRun } from './download-then-run.ts';
import { deniedPath } from './path-denials.ts';
import { CATEGORIES } from './rules/categories.ts';
import { matchesRule } from './rules/rule.ts';
import { isQuestion } from './is-question.ts';
import { type ParsedShell, programOf, type ShellCommand, type ShellMark } from './shell-command.ts';

export interface CommandProblem {
  /** `deny`: never permitted. `confirm`: permitted only when a person confirms. */
  readonly severity: 'deny' | 'confirm';
  /** Authors of command templates may use it; it is permitted when its category is switched off. */
  readonly isForAuthors?: true;
  readonly category: string;
  readonly rule: string;
  readonly reason: string;
}

/** A text with an unknown meaning: it has no category of its own, and cannot be switched off. */
export function unclearProblem(rule: string, reason: string): CommandProblem {
  return { severity: 'confirm', category: 'unclear', rule, reason };
}

function denied(category: string, rule: string, reason: string): CommandProblem {
  return { severity: 'deny', category, rule, reason };
}

export function findProblems(
  { commands, marks, problem }: ParsedShell,
  categoriesOff: readonly string[],
  deniedPaths: readonly string[],
): readonly CommandProblem[] {
  const off = new Set(categoriesOff);
  const problems = problemsOfAll(commands, marks).filter(
    ({ category, rule }) => !off.has(category) && !off.has(rule),
  );
  for (const command of commands) {
    const path = deniedPath(command, deniedPaths);
    if (path !== null)
      problems.push(denied('denied_path', 'denied_path', `names ${path}, which is closed to commands`));
    problems.push(...problemsOf(command, off));
    const open = openName(command);
    if (open) problems.push(unclearProblem('unknown_program', open));
  }
  if (problem !== null) problems.push(unclearProblem('unparsable', problem));
  if (marks.has('unknown_script'))
    problems.push(unclearProblem('unknown_script', 'a shell gets text that is not known before'));
  if (marks.has('evaluates_text') && marks.has('hides_command'))
    problems.push(unclearProblem('evaluated_text', 'arithmetic may evaluate text that holds a command'));
  return problems;
}

/** Problems of the text as a whole. */
function problemsOfAll(commands: readonly ShellCommand[], marks: ReadonlySet<ShellMark>): CommandProblem[] {
  const found: CommandProblem[] = [];
  if (marks.has('fork_bomb')) found.push(denied('destructive_ops', 'fork_bomb', 'starts itself without end'));
  if (marks.has('prompt_expansion'))
    found.push(
      denied(
        'filter_bypass',
        'prompt_expansion',
        'expands a variable’s text once more, which runs what stands in it',
      ),
    );
  const runner = downloadThenRun(commands);
  if (runner)
    found.push(
      denied(
        'data_exfiltration',
        'remote_code',
        `${programOf(runner)} runs what another command of the line downloads`,
      ),
    );
  return found;
}

function problemsOf(command: ShellCommand, off: ReadonlySet<string>): readonly CommandProblem[] {
  const found: CommandProblem[] = [];
  if (isQuestion(command)) return found;
  for (const { category, rules } of CATEGORIES) {
    if (off.has(category)) continue;
    for (const rule of rules) {
      if (off.has(rule.rule) || !matchesRule(rule, command)) continue;
      found.push({
        severity: rule.severity,
        isForAuthors: rule.isForAuthors,
        category,
        rule: rule.rule,
        reason: `${programOf(command) || 'it'} ${rule.reason}`,
      });
      break;
    }
  }
  return found;
}

function openName(command: ShellCommand): string | null {
  const [name] = command.words;
  if (name === undefined || (name.isLiteral && !name.isGlob)) return null;
  return `${name.text.slice(0, 80)} is not a program’s name before the shell expands it`;
}
