/** A call that a model asks for, and how its arguments are read. */
import { isNestedDeeper } from '#domain/nesting.ts';
import { isRecord } from '#domain/outside-value.ts';

export interface RequestedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly invalid?: string;
}

/** Objects and lists within each other; as many as bodies of the API may have. */
const MAX_DEPTH = 64;

/** Why arguments cannot be read into a value: what walks a deeper one would run out of stack. */
export function nestingProblem(json: string): string | undefined {
  return isNestedDeeper(json, MAX_DEPTH) ? `nested deeper than ${MAX_DEPTH} levels` : undefined;
}

/** How much of unreadable arguments is quoted back to the model. */
const MAX_QUOTED_CHARS = 200;

/** Arguments as a mapping; a text is read as JSON, and what is no JSON object is told to the model. */
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
    // It is quoted to the model, who sees what is wrong with it.
    return undefined;
  }
}
