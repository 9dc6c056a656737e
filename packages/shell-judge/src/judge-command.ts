/** Allow, ask or deny: the verdict on one command line. The worst of its simple commands decides. */
import { isListed, isStored, type ResolveProgram } from './allowlist.ts';
import { expandCommands, TOO_LONG } from './parse/expand-commands.ts';
import { findProblems, type CommandProblem, unclearProblem } from './find-problems.ts';
import { foldCommand, MAX_COMMAND_LENGTH } from './parse/fold-command.ts';
import { isHarmless } from './safe/is-harmless.ts';
import { runsOwnCode } from './safe/runs-own-code.ts';
import type { ParsedShell, ShellCommand } from './shell-command.ts';
import { type FollowLinks, throughLinks } from './through-links.ts';

export interface ShellRules {
  /**
   * `deny`: no command runs. `allowlist`: commands of the lists run. `full`: commands that are known to be harmless run
   * too.
   */
  readonly security: 'deny' | 'allowlist' | 'full';
  /**
   * When a person is asked: `off`: never, so that such commands are denied; `on-miss`: about commands that no list
   * contains; `always`: about every command.
   */
  readonly ask: 'off' | 'on-miss' | 'always';
  /** Globs for a simple command's words, and bare program names. */
  readonly allowlist: readonly string[];
  /** Entries of `proposeAllowlistEntry` that a person stored; they require `resolve`. */
  readonly stored?: readonly string[];
  readonly resolve?: ResolveProgram;
  /** Categories, or single rules of them, that are switched off. */
  readonly categoriesOff: readonly string[];
  /** Folders that no command may name; a preceding `!` exempts one. */
  readonly deniedPaths: readonly string[];
  /**
   * For commands without confinement: a person is always asked about a program that may run code of the workspace. The
   * text says why, and completes “npm may run code of the workspace, and …”.
   */
  readonly openHost?: string | undefined;
  /** For one command line; without it no link is followed. */
  readonly followLinks?: FollowLinks | undefined;
}

export interface ShellVerdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The deny category, `unclear`, `denied_path`, or null when none applies. */
  readonly category: string | null;
  /** The rule that decided. */
  readonly rule: string;
  /** One sentence for the model and for the person who decides. */
  readonly reason: string;
  /** Every simple command, including those in wrappers and inner scripts. */
  readonly command_words: readonly (readonly string[])[];
}

/** The verdict's rule when a stored entry of `proposeAllowlistEntry` decided. */
export const ALLOWED_ALWAYS = 'allowed_always';

const BY_POLICY = 'command denied by exec approval policy';
const BY_SAFETY = 'command denied by safety policy';

type Words = ShellVerdict['command_words'];

/** A verdict without a category. */
function plain(
  decision: ShellVerdict['decision'],
  rule: string,
  reason: string,
  command_words: Words,
): ShellVerdict {
  return { decision, category: null, rule, reason, command_words };
}

/** Judges a command; never throws. */
export function judgeCommand(command: string, rules: ShellRules): ShellVerdict {
  if (command.length > MAX_COMMAND_LENGTH)
    return verdictOnDoubt(rules, unclearProblem('too_long', 'the command is too long to be judged'), []);
  const { folded, hasInvisible, refused } = foldCommand(command);
  if (refused !== null) return plain('deny', 'refused_text', `${BY_SAFETY}: ${refused}`, []);
  const verdict = judgeText(command, rules);
  // A person may read other text than the shell: both must pass.
  const seen = folded === command ? verdict : worse(verdict, judgeText(folded, rules));
  if (!hasInvisible || seen.decision === 'deny') return seen;
  const hidden = unclearProblem('invisible_text', 'the command has characters that cannot be seen');
  return worse(verdictOnDoubt(rules, hidden, seen.command_words), seen);
}

function judgeText(command: string, rules: ShellRules): ShellVerdict {
  const written = expandCommands(command);
  const words = commandWords(written);
  const led = rules.followLinks
    ? throughLinks(written.commands, rules.followLinks)
    : { commands: [], isWhole: true };
  const shell = {
    ...written,
    commands: [...written.commands, ...led.commands],
    problem: written.problem ?? (led.isWhole ? null : TOO_LONG),
  };
  const problems = findProblems(shell, rules.categoriesOff, rules.deniedPaths);
  const denial = problems.find((each) => each.severity === 'deny');
  if (denial) return verdictOnDenial(denial, words);
  if (rules.security === 'deny') return plain('deny', 'security_deny', BY_POLICY, words);
  const [doubt] = problems;
  const { stored = [], resolve = () => null } = rules;
  const [only, ...others] = written.commands;
  if (only && others.length === 0 && isStored(only, stored, resolve) && !isOpen(only, rules))
    return plain('allow', ALLOWED_ALWAYS, 'a person allowed it always', words);
  if (doubt) return verdictOnDoubt(rules, doubt, words);
  if (rules.ask === 'always') return plain('ask', 'ask_always', 'every command is put to a person', words);
  return byLists(shell, rules, words);
}

function isOpen(command: ShellCommand, { openHost }: ShellRules): boolean {
  return openHost !== undefined && runsOwnCode(command);
}

function byLists(shell: ParsedShell, rules: ShellRules, words: Words): ShellVerdict {
  const isFull = rules.security === 'full';
  if (isFull && rules.ask === 'off')
    return plain('allow', 'security_full', 'commands run without asking', words);
  const miss = shell.commands.find(
    (each) =>
      !isListed(each, rules.allowlist) &&
      !(isFull && !isOpen(each, rules) && isHarmless(each, shell.functions)),
  );
  if (miss === undefined) return plain('allow', 'known', 'every part is known or on the allowlist', words);
  const name = miss.words[0]?.value.slice(0, 80) ?? 'a redirection';
  if (rules.ask === 'off')
    return plain('deny', 'not_listed', `${BY_POLICY}: ${name} is not on the allowlist`, words);
  return isOpen(miss, rules)
    ? plain('ask', 'open_host', `${name} may run code of the workspace, and ${rules.openHost}`, words)
    : plain('ask', 'not_known', `${name}, used like this, is not known to be harmless`, words);
}

/** The words of every simple command. */
export function commandWords({ commands }: ParsedShell): Words {
  return commands.flatMap(({ words }) => (words.length > 0 ? [words.map(({ value }) => value)] : []));
}

export function verdictOnDenial({ category, rule, reason }: CommandProblem, words: Words): ShellVerdict {
  return { decision: 'deny', category, rule, reason: `${BY_SAFETY}: ${reason}`, command_words: words };
}

/** A person decides in doubt; without one the command is refused. */
export function verdictOnDoubt(
  rules: Pick<ShellRules, 'ask'> & Partial<Pick<ShellRules, 'security'>>,
  { category, rule, reason }: Pick<ShellVerdict, 'category' | 'rule' | 'reason'>,
  words: Words,
): ShellVerdict {
  if (rules.security === 'deny' || rules.ask === 'off')
    return { decision: 'deny', category, rule, reason: `${BY_POLICY}: ${reason}`, command_words: words };
  return { decision: 'ask', category, rule, reason, command_words: words };
}

const RANK = { allow: 0, ask: 1, deny: 2 } as const;

function worse(a: ShellVerdict, b: ShellVerdict): ShellVerdict {
  return RANK[b.decision] > RANK[a.decision] ? b : a;
}
