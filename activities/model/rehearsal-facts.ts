/**
 * The facts of a conversation for a rehearsal script: the values of its placeholders and conditions. They take one pass
 * of cheap steps, so that step 1,000 costs as much as step 1.
 */
import type { CallResult, ChatMessage } from '#domain/turn/message.ts';
import type { ModelRequest } from '#domain/model/model.ts';
import { estimatePromptTokens } from './prompt-size.ts';
import type { WrittenScript } from './rehearsal-schema.ts';

export interface Facts {
  /** By the placeholder's name, such as `user`, `param.steps`, `match.1`. A missing value is the empty text. */
  readonly values: Readonly<Record<string, string | number>>;
  /** Names of the offered tools, in order. */
  readonly tools: readonly string[];
  /** The newest tool results since the last user message, in the order of their calls. */
  readonly results: readonly CallResult[];
}

/** `match` is empty, `index` 1. */
export function readFacts(request: ModelRequest, params: WrittenScript['params']): Facts {
  const { messages } = request;
  let last = messages.length - 1;
  let step = 0;
  let newest: readonly CallResult[] | undefined;
  for (; last >= 0; last--) {
    const message = messages[last];
    if (!message || message.role === 'user') break;
    if (message.role === 'assistant') step += 1;
    else newest ??= message.results;
  }
  const user = userTextEndingAt(messages, last);
  const isFirstOfRow = ({ role }: ChatMessage, index: number): boolean =>
    role === 'user' && messages[index - 1]?.role !== 'user';
  const results = newest ?? [];
  const tools = request.tools.map((tool) => tool.name);
  return {
    values: {
      user,
      system: request.system,
      tools: tools.join(', '),
      step,
      turn: messages.filter(isFirstOfRow).length,
      attempt: request.attempt ?? 1,
      tokens: estimatePromptTokens(request),
      index: 1,
      result: results.map(({ text }) => text).join('\n'),
      ...Object.fromEntries(results.map(({ text }, index) => [`result.${index + 1}`, text])),
      ...readParams(user, params),
    },
    tools,
    results,
  };
}

export function withValues(facts: Facts, values: Facts['values']): Facts {
  return { ...facts, values: { ...facts.values, ...values } };
}

/** Consecutive user messages, such as collected ones, read as one text. */
function userTextEndingAt(messages: readonly ChatMessage[], last: number): string {
  const texts: string[] = [];
  for (let index = last; index >= 0; index--) {
    const message = messages[index];
    if (message?.role !== 'user') break;
    texts.unshift(message.text);
  }
  return texts.join('\n');
}

/**
 * `name=value`, `name="a value"` and `name={"json": true}` in the user's message, for the names that the script
 * declares.
 */
function readParams(text: string, params: WrittenScript['params'] = {}): Facts['values'] {
  const values: Record<string, string | number> = {};
  for (const [name, input] of Object.entries(params)) {
    const rule = typeof input === 'object' ? input : { default: input };
    const { default: usual, min = -Number.MAX_VALUE, max = Number.MAX_VALUE } = rule as NumberRule;
    const written = textOf(text, name);
    const isNumber = written?.trim() && Number.isFinite(Number(written));
    if (typeof usual === 'string') values[`param.${name}`] = written ?? usual;
    else values[`param.${name}`] = isNumber ? Math.min(Math.max(Number(written), min), max) : usual;
  }
  return values;
}

interface NumberRule {
  readonly default: string | number;
  readonly min?: number;
  readonly max?: number;
}

/** JSON extends to the last brace of its line. */
function textOf(text: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}=(?:"([^"]*)"|'([^']*)'|(\\{.*\\}|\\S*))`).exec(text);
  return found?.slice(1).find((value) => value !== undefined);
}

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const WHOLE = /^\{\{\s*([^{}]*?)\s*\}\}$/;

/** Filled in one pass, so that text of a user is never read as a placeholder. */
export function fill(text: string, { values }: Facts): string {
  return text.replace(PLACEHOLDER, (_, name: string) => String(values[name] ?? ''));
}

/**
 * Any JSON value with placeholders in its texts. A text that is only a placeholder keeps the type of its value, so
 * numbers stay numbers.
 */
export function fillValue(value: unknown, facts: Facts): unknown {
  if (typeof value === 'string') {
    const only = WHOLE.exec(value)?.[1];
    return only === undefined ? fill(value, facts) : (facts.values[only] ?? '');
  }
  if (Array.isArray(value)) return value.map((item) => fillValue(item, facts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fillValue(field, facts)]));
}

/** Returns 0 for a value that is not a number. */
export function fillNumber(value: string | number, facts: Facts): number {
  const number = Number(fill(String(value), facts));
  return Number.isFinite(number) ? number : 0;
}

const PLAIN = ['user', 'system', 'tools', 'step', 'turn', 'attempt', 'tokens', 'index', 'result'];
const NUMBERED = /^(match\.\w+|result\.[1-9]\d*)$/;

/** What is wrong with the placeholders of a text, and what is allowed; `params` are the declared ones. */
export function placeholderProblem(text: string, params: readonly string[]): string | undefined {
  const known = new Set([...PLAIN, ...params.map((name) => `param.${name}`)]);
  for (const [, name = ''] of text.matchAll(PLACEHOLDER)) {
    if (known.has(name) || NUMBERED.test(name)) continue;
    if (name.startsWith('param.'))
      return `{{${name}}} is not declared under params; declared: ${params.join(', ') || 'none'}`;
    const allowed = [...PLAIN, 'result.N', 'match.N', 'match.NAME', 'param.NAME'].join(', ');
    return `{{${name}}} is not a placeholder; allowed: ${allowed}`;
  }
  return undefined;
}
