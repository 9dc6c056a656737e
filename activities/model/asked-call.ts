/** A call that a script asks for, and how its arguments are read: badly written ones reach us as a real model's would. */
import { isNestedDeeper } from '#domain/nesting.ts';

export interface AskedCall {
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

/** Arguments as a mapping; a text is read as JSON, and one that is no JSON object is told as a model's bad arguments are. */
export function readArguments(value: unknown): Pick<AskedCall, 'args' | 'invalid'> {
  if (typeof value !== 'string') return { args: (value ?? {}) as Record<string, unknown> };
  const problem = nestingProblem(value);
  if (problem) return { args: {}, invalid: `The arguments are ${problem}` };
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      return { args: parsed as Record<string, unknown> };
    }
    return { args: {}, invalid: `The arguments must be a JSON object, but were: ${value.slice(0, 200)}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { args: {}, invalid: `The arguments are not JSON (${reason}): ${value.slice(0, 200)}` };
  }
}
