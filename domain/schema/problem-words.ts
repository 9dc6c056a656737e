/** Says what a schema rejects in a value, in words for its sender. */
import type { z } from 'zod';

const MAX_CHARACTERS = 500;

/** `url: is required; dns: …`; `whole` is the name of the value itself. At most 500 characters. */
export function schemaProblem({ issues }: z.ZodError, whole: string): string {
  return issues
    .map(({ path, message }) => `${path.join('.') || whole}: ${plainWords(message)}`)
    .join('; ')
    .slice(0, MAX_CHARACTERS);
}

/** The library's text for a missing value speaks of types that a caller has not named. */
export function plainWords(message: string): string {
  if (message.endsWith('received undefined')) return 'is required';
  return message.endsWith('received NaN') ? 'must be a number' : message;
}
