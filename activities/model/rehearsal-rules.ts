/** Which rule of a rehearsal script answers, and what is wrong with rules whose shape is valid. */
import { type Facts, fillNumber, placeholderProblem, withValues } from './rehearsal-facts.ts';
import type { WrittenReply, WrittenScript, WrittenWhen } from './rehearsal-schema.ts';

/** Greatest number of characters of a message that a pattern reads. */
const MAX_MATCHED_CHARS = 100_000;

const COUNTS = ['step', 'turn', 'attempt', 'tokens'] as const;
const TEXTS = ['user', 'system', 'result'] as const;

type TextMatch = NonNullable<WrittenWhen['user']>;

/** The first rule that applies; the loader has checked that the last one always does. */
export function chooseRule({ rules }: WrittenScript, facts: Facts): { reply: WrittenReply; facts: Facts } {
  for (const { when = {}, reply } of rules) {
    const groups = groupsOf(when, facts);
    if (groups) return { reply, facts: withValues(facts, groups) };
  }
  throw new Error('no rule of the rehearsal script applies');
}

/** Undefined when the rule does not apply; otherwise the groups of its patterns. */
function groupsOf(when: WrittenWhen, facts: Facts): Record<string, string> | undefined {
  const { values, results, tools } = facts;
  const { result_ok: ok, last_tool, offers } = when;
  const holds =
    COUNTS.every((key) => isWithin(Number(values[key]), when[key], facts)) &&
    (ok === undefined || (results.length > 0 && results.every((result) => result.ok) === ok)) &&
    (last_tool === undefined || results.some(({ name }) => [last_tool].flat().includes(name))) &&
    (offers === undefined || [offers].flat().every((name) => tools.includes(name))) &&
    Object.entries(when.param ?? {}).every(([name, value]) => String(values[`param.${name}`]) === `${value}`);
  if (!holds) return undefined;
  const groups: Record<string, string> = {};
  for (const key of TEXTS) {
    const found = when[key] === undefined ? {} : groupsIn(String(values[key]), when[key]);
    if (!found) return undefined;
    Object.assign(groups, found);
  }
  return groups;
}

function isWithin(value: number, required: WrittenWhen['step'], facts: Facts): boolean {
  if (required === undefined || typeof required === 'number') return value === (required ?? value);
  const { from = 0, below = Number.MAX_SAFE_INTEGER } = required;
  return value >= fillNumber(from, facts) && value < fillNumber(below, facts);
}

function groupsIn(whole: string, match: TextMatch): Record<string, string> | undefined {
  const text = whole.slice(0, MAX_MATCHED_CHARS);
  if (typeof match === 'string' || Array.isArray(match)) {
    const low = text.toLowerCase();
    return [match].flat().some((needle) => low.includes(needle.toLowerCase())) ? {} : undefined;
  }
  const found = regexOf(match).exec(text);
  if (!found) return undefined;
  const groups = Object.entries({ ...Object.fromEntries(found.entries()), ...found.groups });
  return Object.fromEntries(groups.map(([name, group]) => [`match.${name}`, group ?? '']));
}

/** @throws Error when the text is not a regular expression */
function regexOf({ regex, flags = 'i' }: Exclude<TextMatch, string | string[]>): RegExp {
  if (!/^[imsu]*$/.test(flags)) throw new Error(`flags may be of i, m, s and u; got ${flags}`);
  return new RegExp(regex, flags);
}

/** A fault in a script: its position in the file's structure, and what is allowed there. */
export interface ScriptProblem {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

export function problemsOf({ rules, params = {}, delay, stream }: WrittenScript): readonly ScriptProblem[] {
  const declared = Object.keys(params);
  const problems: ScriptProblem[] = [];
  const say = (path: ScriptProblem['path'], message: string | undefined): void => {
    if (message !== undefined) problems.push({ path, message });
  };
  const probe = (value: unknown, path: ScriptProblem['path']): void => {
    if (typeof value === 'string') return say(path, placeholderProblem(value, declared));
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) probe(inner, [...path, key]);
  };
  probe({ delay, stream }, []);
  for (const [index, { when = {}, reply }] of rules.entries()) {
    const at = (...path: PropertyKey[]): ScriptProblem['path'] => ['rules', index, ...path];
    const spoken = [reply.text, reply.calls, reply.error, reply.follow];
    if (!spoken.some(Boolean)) say(at('reply'), 'needs text, calls, follow or error');
    probe(reply, at('reply'));
    for (const key of COUNTS) probe(when[key], at('when', key));
    for (const key of TEXTS) say(at('when', key), regexProblem(when[key]));
    for (const name of Object.keys(when.param ?? {}))
      if (!declared.includes(name)) say(at('when', 'param', name), `${name} is not declared under params`);
  }
  if (Object.keys(rules.at(-1)?.when ?? {}).some((key) => key !== 'always'))
    say(
      ['rules', rules.length - 1],
      'the last rule must apply always (no `when`), so that every conversation gets an answer',
    );
  return problems;
}

function regexProblem(match: TextMatch | undefined): string | undefined {
  if (typeof match !== 'object' || Array.isArray(match)) return undefined;
  try {
    regexOf(match);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
