/** A call that a model requests, and how its arguments are read. */
import { isNestedDeeper } from '#domain/nesting.ts';
import { isRecord } from '#domain/outside-value.ts';

export interface RequestedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly invalid?: string;
}

/** Greatest depth of objects and lists, the same as for bodies of the API. */
const MAX_DEPTH = 64;

/** Why arguments cannot be parsed: code that walks a deeper value would exhaust the stack. */
export function nestingProblem(json: string): string | undefined {
  return isNestedDeeper(json, MAX_DEPTH) ? `nested deeper than ${MAX_DEPTH} levels` : undefined;
}

/** Characters of unreadable arguments that are quoted to the model. */
const MAX_QUOTED_CHARS = 200;

/** Arguments as an object. A text is parsed as JSON; the model reads when it is not a JSON object. */
export function readArguments(value: unknown): Pick<RequestedCall, 'args' | 'invalid'> {
  const problem = typeof value === 'string' ? nestingProblem(value) : undefined;
  const read = typeof value === 'string' && !problem ? readJson(value) : (value ?? {});
  if (isRecord(read)) return { args: read };
  const text = problem ?? (typeof value === 'string' ? value : JSON.stringify(value));
  if (text.trim() === '') return { args: {} };
  return { args: {}, invalid: `The arguments are not a JSON object: ${text.slice(0, MAX_QUOTED_CHARS)}` };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The text is quoted to the model, which sees what is wrong with it.
    return undefined;
  }
}
