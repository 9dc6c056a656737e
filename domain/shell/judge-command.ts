/** Allow, ask or deny: the verdict on one command line (SH-1, SH-2). The worst of its simple commands decides. */
import type { ExecAsk, ExecSecurity } from '../agent.ts';
import { isListed, isStored, type ResolveProgram } from './allowlist.ts';
import { type ExpandedShell, expandCommands } from './expand-commands.ts';
import { findProblems, type Problem } from './find-problems.ts';
import { foldCommand, MAX_COMMAND_LENGTH } from './fold-command.ts';
import { isHarmless } from './safe/is-harmless.ts';
import { runsOwnCode } from './safe/runs-own-code.ts';
import type { ShellCommand } from './shell-command.ts';

export interface ShellRules {
  readonly security: ExecSecurity;
  readonly ask: ExecAsk;
  /** Globs over a simple command's words, and bare program names. */
  readonly allowlist: readonly string[];
  /** Entries of `proposeAllowlistEntry` that a person stored; they need `resolve`. */
  readonly stored?: readonly string[];
  readonly resolve?: ResolveProgram;
  /** Categories, or single rules of them, that are switched off. */
  readonly categoriesOff: readonly string[];
  /** Folders that no command may name; `!` before one exempts it. */
  readonly deniedPaths: readonly string[];
  /** It would run where nothing stands between it and TempoClaw (SH-6): what runs code of the agent's is always asked about. */
  readonly openHost?: boolean;
}

export interface ShellVerdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The deny category, `unclear`, `denied_path`, or null when none is concerned. */
  readonly category: string | null;
  /** The rule that decided. */
  readonly rule: string;
  /** One sentence for the model and for who decides. */
  readonly reason: string;
  /** Every simple command, with those behind wrappers and in inner scripts. */
  readonly command_words: readonly (readonly string[])[];
}

/** The verdict's rule when a stored entry of `proposeAllowlistEntry` decided. */
export const ALLOWED_ALWAYS = 'allowed_always';

const BY_POLICY = 'command denied by exec approval policy';
const BY_SAFETY = 'command denied by safety policy';

/** Judges a command; never throws. */
export function judgeCommand(command: string, rules: ShellRules): ShellVerdict {
  if (command.length > MAX_COMMAND_LENGTH)
    return byMode(
      rules,
      {
        severity: 'confirm',
        category: 'unclear',
        rule: 'too_long',
        reason: 'the command is too long to be judged',
      },
      [],
    );
  const { folded, hasInvisible, refused } = foldCommand(command);
  if (refused !== null)
    return {
      decision: 'deny',
      category: null,
      rule: 'refused_text',
      reason: `${BY_SAFETY}: ${refused}`,
      command_words: [],
    };
  const verdict = judgeText(command, rules);
  // What a reader sees may differ from what the shell reads: both must pass.
  const seen = folded === command ? verdict : worse(verdict, judgeText(folded, rules));
  if (!hasInvisible || seen.decision === 'deny') return seen;
  const hidden: Problem = {
    severity: 'confirm',
    category: 'unclear',
    rule: 'invisible_text',
    reason: 'the command has characters that cannot be seen',
  };
  return worse(byMode(rules, hidden, seen.command_words), seen);
}

function judgeText(command: string, rules: ShellRules): ShellVerdict {
  const shell = expandCommands(command);
  const words = shell.commands
    .filter((each) => each.words.length > 0)
    .map((each) => each.words.map((word) => word.value));
  const problems = findProblems(shell, rules.categoriesOff, rules.deniedPaths);
  const denial = problems.find((each) => each.severity === 'deny');
  if (denial)
    return {
      decision: 'deny',
      category: denial.category,
      rule: denial.rule,
      reason: `${BY_SAFETY}: ${denial.reason}`,
      command_words: words,
    };
  if (rules.security === 'deny')
    return {
      decision: 'deny',
      category: null,
      rule: 'security_deny',
      reason: BY_POLICY,
      command_words: words,
    };
  const [doubt] = problems;
  const { stored = [], resolve = () => null } = rules;
  const isOpen = (each: ShellCommand): boolean => rules.openHost === true && runsOwnCode(each);
  const wasAllowed =
    isOneCommand(shell) && shell.commands.every((each) => isStored(each, stored, resolve) && !isOpen(each));
  if (wasAllowed)
    return {
      decision: 'allow',
      category: null,
      rule: ALLOWED_ALWAYS,
      reason: 'a person allowed it always',
      command_words: words,
    };
  if (doubt) return byMode(rules, doubt, words);
  if (rules.ask === 'always')
    return {
      decision: 'ask',
      category: null,
      rule: 'ask_always',
      reason: 'every command is put to a person',
      command_words: words,
    };
  return byLists(shell, rules, words);
}

function isOneCommand(shell: ExpandedShell): boolean {
  return shell.commands.length === 1;
}

function byLists(
  shell: ExpandedShell,
  rules: ShellRules,
  words: ShellVerdict['command_words'],
): ShellVerdict {
  const isOpen = (each: ShellCommand): boolean => rules.openHost === true && runsOwnCode(each);
  const isCovered = (each: ShellCommand): boolean =>
    isListed(each, rules.allowlist) ||
    (rules.security === 'full' && !isOpen(each) && isHarmless(each, shell.functions));
  if (rules.security === 'full' && rules.ask === 'off')
    return {
      decision: 'allow',
      category: null,
      rule: 'security_full',
      reason: 'commands run without asking',
      command_words: words,
    };
  const miss = shell.commands.find((each) => !isCovered(each));
  if (miss === undefined)
    return {
      decision: 'allow',
      category: null,
      rule: 'known',
      reason: 'every part is known or on the allowlist',
      command_words: words,
    };
  const name = miss.words[0]?.value.slice(0, 80) ?? 'a redirection';
  if (rules.ask === 'off')
    return {
      decision: 'deny',
      category: null,
      rule: 'not_listed',
      reason: `${BY_POLICY}: ${name} is not on the allowlist`,
      command_words: words,
    };
  return {
    decision: 'ask',
    category: null,
    ...(isOpen(miss)
      ? {
          rule: 'open_host',
          reason: `${name} may run code of the workspace, and nothing keeps it from TempoClaw’s own keys on this host`,
        }
      : { rule: 'not_known', reason: `${name}, used like this, is not known to be harmless` }),
    command_words: words,
  };
}

/** A doubt is put to a person, and refused when nobody is asked. */
function byMode(rules: ShellRules, problem: Problem, words: ShellVerdict['command_words']): ShellVerdict {
  const { category, rule, reason } = problem;
  if (rules.security === 'deny' || rules.ask === 'off')
    return { decision: 'deny', category, rule, reason: `${BY_POLICY}: ${reason}`, command_words: words };
  return { decision: 'ask', category, rule, reason, command_words: words };
}

const RANK = { allow: 0, ask: 1, deny: 2 } as const;

function worse(a: ShellVerdict, b: ShellVerdict): ShellVerdict {
  return RANK[b.decision] > RANK[a.decision] ? b : a;
}
