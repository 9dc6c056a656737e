/** Whether a program with credentials may get these arguments (SH-4). */
import type { KeywordRule, SecureCliRules } from './secure-cli.ts';

/** Whether a pattern (RE2) matches in a text. It is passed in, because the engine does not belong to the domain. */
export type Matches = (pattern: string, text: string) => boolean;

export interface ExcusedKeyword {
  readonly option: string;
  readonly keyword: string;
}

export type ArgumentCheck =
  | {
      readonly ok: true;
      /** Words that a pattern would have refused without a rule that excuses them; auditors see them. */
      readonly excused: readonly ExcusedKeyword[];
    }
  | { readonly ok: false; readonly reason: string };

export function checkArguments(
  rules: Pick<SecureCliRules, 'deny_args' | 'deny_verbose' | 'keyword_allowlist'>,
  args: readonly string[],
  matches: Matches,
): ArgumentCheck {
  const { judged, excused } = excuse(rules.keyword_allowlist, args);
  const line = judged.join(' ');
  const denied = rules.deny_args.find((pattern) => matches(pattern, line));
  if (denied !== undefined)
    return { ok: false, reason: `these arguments are not allowed for it (deny_args: ${denied})` };
  // An option and its value may be one word or two. A pattern begins where an argument begins: `-v` is not in `--version`.
  const candidates = args.flatMap((arg, at) => {
    const next = args[at + 1];
    return next === undefined ? [arg] : [arg, `${arg} ${next}`];
  });
  const verbose = rules.deny_verbose.find((pattern) =>
    candidates.some((each) => matches(`^(?:${pattern})`, each)),
  );
  if (verbose !== undefined)
    return { ok: false, reason: `verbose output could show its credentials (deny_verbose: ${verbose})` };
  return { ok: true, excused };
}

/** The arguments without the keywords that a rule excuses at their place. */
function excuse(
  rules: readonly KeywordRule[],
  args: readonly string[],
): { readonly judged: readonly string[]; readonly excused: readonly ExcusedKeyword[] } {
  const holding = rules.filter((each) => each.subcommands.some((subcommand) => begins(args, subcommand)));
  const excused: ExcusedKeyword[] = [];
  const judged = args.map((arg, at) => {
    let rest = arg;
    for (const rule of holding) {
      const option = optionOf(rule, args, at);
      if (option === undefined) continue;
      for (const keyword of rule.keywords) {
        const without = withoutWord(rest, keyword);
        if (without !== rest) excused.push({ option, keyword });
        rest = without;
      }
    }
    return rest;
  });
  return { judged, excused };
}

/** The option of the rule whose value the argument is or contains. */
function optionOf(rule: KeywordRule, args: readonly string[], at: number): string | undefined {
  const [name] = /^[^=]+(?==)/.exec(args[at] ?? '') ?? [];
  return rule.args.find((option) => option === args[at - 1] || option === name);
}

/** Options before the subcommand's words would make it another one. */
function begins(args: readonly string[], subcommand: string): boolean {
  const expected = subcommand.split(' ').filter((word) => word !== '');
  return expected.length > 0 && expected.every((word, at) => args[at] === word);
}

/** Removes every occurrence of the whole word, in any letter case; further letters make it another word. */
function withoutWord(text: string, word: string): string {
  const lower = text.toLowerCase();
  const required = word.toLowerCase();
  // A change of case may change a text's length; then nothing is excused.
  if (required === '' || lower.length !== text.length) return text;
  const parts: string[] = [];
  let read = 0;
  for (let at = lower.indexOf(required); at >= 0; at = lower.indexOf(required, at + required.length)) {
    if (isWordCharacter(lower[at - 1]) || isWordCharacter(lower[at + required.length])) continue;
    parts.push(text.slice(read, at));
    read = at + required.length;
  }
  return [...parts, text.slice(read)].join('');
}

function isWordCharacter(char: string | undefined): boolean {
  return char !== undefined && /[a-z0-9_]/.test(char);
}
