/**
 * AP-7: proposes rules from decisions that people have made the same way each time. A rule is derived from calls that
 * were all approved. It is never derived from a kind of call (program and subcommand, or tool and place) of which
 * anybody in the tenant rejected one.
 */
import {
  expandCommands,
  INTERPRETERS,
  isHarmless,
  programOf,
  SHELLS,
  WRAPPERS,
} from '@tempoclaw/shell-judge';
import { matchGlob } from '@tempoclaw/shell-judge/glob';
import { climbs } from '#domain/policy/find-call-rule.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { allowRuleSchema } from '../schema/backtest.ts';

export interface DecidedCall {
  readonly agent: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly approved: boolean;
}

type AllowRule = Kept<typeof allowRuleSchema>;

/** The rule to add: to `exec.allowlist`, or before the other `tools.rules`. */
export type ProposedRule = { readonly allowlist: string } | { readonly rule: AllowRule };

export interface Proposal<Call> {
  readonly agent: string;
  readonly tool: string;
  readonly adds: ProposedRule;
  /** The calls that it is derived from. */
  readonly calls: readonly Call[];
}

/** Least number of approved calls; for a rule with a wildcard they must differ. */
export const MIN_APPROVALS = 3;

/** The tool whose calls are commands. */
const EXEC = 'exec';

/** Proposals with most calls come first. */
export function proposeRules<Call extends DecidedCall>(calls: readonly Call[]): Proposal<Call>[] {
  const [commands, others] = [
    calls.filter(({ tool }) => tool === EXEC),
    calls.filter(({ tool }) => tool !== EXEC),
  ];
  return [...commandRules(commands), ...argumentRules(others)].toSorted(
    (a, b) => b.calls.length - a.calls.length,
  );
}

interface Line<Call> {
  readonly call: Call;
  readonly words: readonly string[];
}

/** Programs that start any program or code; no wildcard may follow them. */
const RUNS_ANYTHING = new Set('find fd make docker podman kubectl ssh eval source . trap'.split(' '));

function commandRules<Call extends DecidedCall>(calls: readonly Call[]): Proposal<Call>[] {
  const lines = calls.flatMap((call) => linesOf(call));
  const rejected = lines.filter(({ call }) => !call.approved).map(({ words }) => kindOf(words));
  const isRejected = (words: readonly string[]): boolean => {
    const { program, subcommand } = kindOf(words);
    return rejected.some(
      (kind) =>
        kind.program === program &&
        (subcommand === undefined || kind.subcommand === undefined || kind.subcommand === subcommand),
    );
  };
  const approved = lines.filter(({ call, words }) => call.approved && !isRejected(words));
  return groups(approved, ({ call }) => call.agent).flatMap(([agent, mine]) =>
    patternsOf(mine, 0).map(({ pattern, of }) => ({
      agent,
      tool: EXEC,
      adds: { allowlist: pattern },
      calls: [...new Set(of.map(({ call }) => call))],
    })),
  );
}

/** The commands within the call that people are asked about; none when it cannot be parsed. */
function linesOf<Call extends DecidedCall>(call: Call): Line<Call>[] {
  const { command } = call.args;
  if (typeof command !== 'string') return [];
  const shell = expandCommands(command);
  if (shell.problem !== null) return [];
  return shell.commands
    .filter((each) => each.words.length > 0 && !isHarmless(each, shell.functions))
    .map((each) => ({ call, words: [programOf(each), ...each.words.slice(1).map(({ value }) => value)] }));
}

interface Kind {
  readonly program: string;
  readonly subcommand: string | undefined;
}

function kindOf([program = '', second = '']: readonly string[]): Kind {
  return { program, subcommand: /^[a-z][\w:-]*$/.test(second) ? second : undefined };
}

interface Pattern<Call> {
  readonly pattern: string;
  readonly of: readonly Line<Call>[];
}

/**
 * Patterns of lines whose first `depth` words are the same: whole lines that occur often, and a wildcard for the rest
 * of a subcommand's.
 */
function patternsOf<Call>(lines: readonly Line<Call>[], depth: number): Pattern<Call>[] {
  const found: Pattern<Call>[] = [];
  const rest: Line<Call>[] = [];
  for (const [next, of] of groups(lines, ({ words }) => words[depth])) {
    if (next === undefined) {
      const words = of[0]?.words ?? [];
      if (of.length >= MIN_APPROVALS && mayStand(words)) found.push({ pattern: words.join(' '), of });
    } else if (of.length >= MIN_APPROVALS) found.push(...patternsOf(of, depth + 1));
    else rest.push(...of);
  }
  const common = rest[0]?.words.slice(0, depth) ?? [];
  if (depth > 1 && rest.length >= MIN_APPROVALS && mayVary(common) && isPlain(common.join(' ')))
    found.push({ pattern: `${common.join(' ')} *`, of: rest });
  return found;
}

/** A program's name alone covers everything that the program can do. */
function mayStand(words: readonly string[]): boolean {
  return words.length > 1 && !isCode(words[0]) && isPlain(words.join(' '));
}

function mayVary(words: readonly string[]): boolean {
  const { program, subcommand } = kindOf(words);
  return subcommand !== undefined && !isCode(program) && !RUNS_ANYTHING.has(program);
}

/** The program it runs may be another one tomorrow. */
function isCode(program = ''): boolean {
  return SHELLS.has(program) || WRAPPERS.has(program) || INTERPRETERS.test(program);
}

/** Whether the text as a glob matches only itself. */
function isPlain(text: string): boolean {
  return text.length <= MAX_GLOB && !/[*?]/.test(text);
}

const MAX_GLOB = 500;

/** Arguments whose text is content, for a place that other arguments name. */
const CONTENT = new Set(
  'content text message body old_text new_text title subject description comment'.split(' '),
);

function argumentRules<Call extends DecidedCall>(calls: readonly Call[]): Proposal<Call>[] {
  const rejected = new Set(calls.filter(({ approved }) => !approved).map(placeOf));
  const approved = calls.filter((call) => call.approved && !rejected.has(placeOf(call)));
  return groups(approved, (call) => `${call.agent} ${placeOf(call)}`).flatMap(([, of]) => {
    const [first] = of;
    const args = first && of.length >= MIN_APPROVALS ? globsOf(of.map((call) => call.args)) : undefined;
    if (!first || !args) return [];
    const only_args = Object.keys(first.args).toSorted();
    const rule: AllowRule = { tool: first.tool, decision: 'allow', args, only_args };
    return [{ agent: first.agent, tool: first.tool, adds: { rule }, calls: of }];
  });
}

/** The tool, and of each argument its first folder, its origin, or its value; of content only that it exists. */
function placeOf({ tool, args }: DecidedCall): string {
  const places = Object.entries(args).map(([name, value]) => {
    if (isContent(name, value)) return [name];
    return [name, (typeof value === 'string' && folderOf(value, false)) || value];
  });
  return JSON.stringify([tool, places.toSorted()]);
}

/** Undefined when nothing narrows the rule, or when a glob cannot express an argument. */
function globsOf(all: readonly DecidedCall['args'][]): Record<string, string> | undefined {
  const names = Object.entries(all[0] ?? {}).flatMap(([name, value]) =>
    isContent(name, value) ? [] : [name],
  );
  const globs: Record<string, string> = {};
  for (const name of names) {
    const values = [...new Set(all.map((args) => textOf(args[name])))];
    const glob = values.length === 1 ? values[0] : commonFolder(values);
    const prefix = glob?.replace(/\*$/, '') ?? '';
    if (glob === undefined || !isPlain(prefix) || values.some(climbs)) return undefined;
    if (values.some((value) => !matchGlob(glob, value))) return undefined;
    globs[name] = glob;
  }
  return names.length > 0 ? globs : undefined;
}

function isContent(name: string, value: unknown): boolean {
  return CONTENT.has(name) && typeof value === 'string';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function commonFolder(values: readonly string[]): string | undefined {
  let folder = folderOf(values[0] ?? '', true);
  while (folder !== undefined && !values.every((value) => value.startsWith(folder ?? ''))) {
    const shorter = folder.slice(0, -1);
    folder = folderOf(shorter, true);
  }
  return folder === undefined ? undefined : `${folder}*`;
}

/**
 * `https://host/` or `notes/` of an address or path, for the whole value or its first part; undefined when it is
 * neither.
 */
function folderOf(value: string, whole: boolean): string | undefined {
  const found = /^(?<root>https?:\/\/[^/\s?#@]+\/|(?!\w+:)\.?\/?[^/\s]+\/)(?<rest>[^\s?#]*\/)?/.exec(
    value,
  )?.groups;
  return found && `${found.root}${whole ? (found.rest ?? '') : ''}`;
}

/** The groups in the order of their first item. */
function groups<Item, Key>(items: readonly Item[], key: (item: Item) => Key): [Key, Item[]][] {
  return [...Map.groupBy(items, key)];
}
