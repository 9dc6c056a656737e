/** What a schema says of a value that it does not take, in words for whoever sent it. */
import type { z } from 'zod';

const MAX_CHARACTERS = 500;

/** `url: is required; dns: …`; `whole` names the value itself. At most 500 characters. */
export function schemaProblem({ issues }: z.ZodError, whole: string): string {
  return issues
    .map(({ path, message }) => `${path.join('.') || whole}: ${plainWords(message)}`)
    .join('; ')
    .slice(0, MAX_CHARACTERS);
}

/** The library's words for what is missing speak of types that a caller has not named. */
export function plainWords(message: string): string {
  if (message.endsWith('received undefined')) return 'is required';
  return message.endsWith('received NaN') ? 'must be a number' : message;
}
