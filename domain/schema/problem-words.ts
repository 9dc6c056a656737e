/** Says what a schema rejects in a value, in words for its sender. */
import type { z } from 'zod';

const MAX_CHARACTERS = 500;

/** `url: is required; dns: …`; `whole` is the name of the value itself. At most 500 characters. */
export function schemaProblem({ issues }: z.ZodError, whole: string): string {
  return plainIssues(issues)
    .flatMap((issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `${[...issue.path, key].join('.')}: is not a known field`)
        : `${issue.path.join('.') || whole}: ${issueWords(issue)}`,
    )
    .join('; ')
    .slice(0, MAX_CHARACTERS);
}

/** The library also checks the size of a value that has a wrong type, and names it as a size of that type. */
export function plainIssues(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  return withoutSizes(
    issues,
    ({ path }) => path.join('.'),
    ({ code }) => code === 'invalid_type',
  );
}

/** Of a place with a wrong type, only that is returned. */
export function withoutSizes<Problem>(
  problems: readonly Problem[],
  placeOf: (problem: Problem) => string,
  isOfType: (problem: Problem) => boolean,
): readonly Problem[] {
  const places = new Set(problems.filter(isOfType).map(placeOf));
  return problems.filter((problem) => isOfType(problem) || !places.has(placeOf(problem)));
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
