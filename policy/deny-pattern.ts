/**
 * Patterns that people write and that match hostile arguments: RE2 takes time proportional to the text for all inputs.
 */
import { RE2JS } from 're2js';

/** Longer patterns are not rules that a person wrote. */
const MAX_PATTERN = 500;
/** Longer arguments are refused before (credentialed_exec), so that the engine needs a few milliseconds at most. */
const MAX_KEPT = 500;

const compiled = new Map<string, RE2JS>();

/** Says why the pattern cannot be used; undefined when it can. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `is longer than ${MAX_PATTERN} characters`;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'is not a pattern of RE2';
  }
}

/** Whether the pattern occurs anywhere in the text. Throws for a pattern that `patternProblem` would have refused. */
export function matchesPattern(pattern: string, text: string): boolean {
  const known = compiled.get(pattern) ?? RE2JS.compile(pattern);
  compiled.set(pattern, known);
  const oldest = compiled.size > MAX_KEPT ? compiled.keys().next().value : undefined;
  if (oldest !== undefined) compiled.delete(oldest);
  return known.test(text);
}
