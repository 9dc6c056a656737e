/** Patterns that people write and hostile arguments meet: RE2, which takes time in proportion to the text whatever both are. */
import { RE2JS } from 're2js';

/** A pattern that repeats thousands of times is no rule that a person wrote. */
const MAX_PATTERN = 500;
/** Arguments longer than this are refused before (credentialed_exec); the engine's time stays under a few milliseconds. */
const MAX_KEPT = 500;

const compiled = new Map<string, RE2JS>();

/** Why the pattern cannot be used, or undefined. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return `is longer than ${MAX_PATTERN} characters`;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'is not a pattern of RE2';
  }
}

/** Whether the pattern is anywhere in the text. Throws for one that `patternProblem` would have refused. */
export function matchesPattern(pattern: string, text: string): boolean {
  const known = compiled.get(pattern) ?? RE2JS.compile(pattern);
  compiled.set(pattern, known);
  const oldest = compiled.size > MAX_KEPT ? compiled.keys().next().value : undefined;
  if (oldest !== undefined) compiled.delete(oldest);
  return known.test(text);
}
