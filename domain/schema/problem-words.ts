/** Says what a schema rejects in a value, in words for its sender. */
import type { z } from 'zod';

const MAX_CHARACTERS = 500;

/** `url: is required; dns: …`; `whole` is the name of the value itself. At most 500 characters. */
export function schemaProblem({ issues }: z.ZodError, whole: string): string {
  return issues
    .map((issue) => `${issue.path.join('.') || whole}: ${issueWords(issue)}`)
    .join('; ')
    .slice(0, MAX_CHARACTERS);
}

/** What is wrong with a name in a map is within its issue. */
export function issueWords(issue: z.core.$ZodIssue): string {
  return plainWords(
    issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message,
  );
}

/** The library's text for a missing value speaks of types that a caller has not named. */
export function plainWords(message: string): string {
  if (message.endsWith('received undefined')) return 'is required';
  return message.endsWith('received NaN') ? 'must be a number' : message;
}
