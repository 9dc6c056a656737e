/** What speaks against a command: rows of the categories, denied paths, and what cannot be judged. */
import { downloadThenRun } from './download-then-run.ts';
import type { ExpandedShell } from './expand-commands.ts';
import { deniedPath } from './path-denials.ts';
import { CATEGORIES } from './rules/categories.ts';
import { matchesRule } from './rules/rule.ts';
import { programOf, type ShellCommand } from './shell-command.ts';

export interface Problem {
  /** `deny`: never. `confirm`: only when a person says so. */
  readonly severity: 'deny' | 'confirm';
  /** Who makes a custom tool may have it in its template; allowed always where its category is switched off. */
  readonly isForAuthors?: true;
  readonly category: string;
  readonly rule: string;
  readonly reason: string;
}

/** Not a category of its own: a text whose meaning is open. It cannot be switched off. */
const UNCLEAR = 'unclear';

export function findProblems(
  shell: ExpandedShell,
  categoriesOff: readonly string[],
  deniedPaths: readonly string[],
): readonly Problem[] {
  const off = new Set(categoriesOff);
  const problems: Problem[] = [];
  const unclear = (rule: string, reason: string): void => {
    problems.push({ severity: 'confirm', category: UNCLEAR, rule, reason });
  };
  if (shell.hasForkBomb && !off.has('destructive_ops') && !off.has('fork_bomb'))
    problems.push({
      severity: 'deny',
      category: 'destructive_ops',
      rule: 'fork_bomb',
      reason: 'starts itself without end',
    });
  if (shell.expandsPrompt && !off.has('filter_bypass'))
    problems.push({
      severity: 'deny',
      category: 'filter_bypass',
      rule: 'prompt_expansion',
      reason: 'expands a variable’s text once more, which runs what stands in it',
    });
  const runner =
    off.has('data_exfiltration') || off.has('remote_code') ? null : downloadThenRun(shell.commands);
  if (runner)
    problems.push({
      severity: 'deny',
      category: 'data_exfiltration',
      rule: 'remote_code',
      reason: `${programOf(runner)} runs what another command of the line downloads`,
    });
  for (const command of shell.commands) {
    const path = deniedPath(command, deniedPaths);
    if (path !== null)
      problems.push({
        severity: 'deny',
        category: 'denied_path',
        rule: 'denied_path',
        reason: `names ${path}, which is closed to commands`,
      });
    problems.push(...problemsOf(command, off));
    const open = openName(command);
    if (open) unclear('unknown_program', open);
  }
  if (shell.problem !== null) unclear('unparsable', shell.problem);
  if (shell.hasUnknownScript) unclear('unknown_script', 'a shell gets text that is not known before');
  if (shell.evaluatesCommand) unclear('evaluated_text', 'arithmetic may evaluate text that holds a command');
  return problems;
}

function problemsOf(command: ShellCommand, off: ReadonlySet<string>): readonly Problem[] {
  const found: Problem[] = [];
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
