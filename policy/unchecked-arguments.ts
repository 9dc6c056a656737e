/** Arguments that another program defines and checks: here they are only checked by name and size. */
import { z } from 'zod';
import { isRecord } from '#domain/outside-value.ts';

/** Characters of all arguments: about a file. */
const MAX_ARGUMENTS = 1_048_576;

/**
 * `schema` is JSON Schema. It is not compiled, because it could be made to take forever. Required arguments must be
 * present, and empty optional ones are left out, because models fill in what they do not mean.
 */
export function uncheckedArguments(schema: Readonly<Record<string, unknown>>): z.ZodType {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  return z
    .unknown()
    .meta({ ...schema })
    .transform((raw, context) => {
      const input = isRecord(raw) ? raw : {};
      for (const name of required)
        if (!Object.hasOwn(input, name))
          context.addIssue({ code: 'custom', path: [name], message: 'is required' });
      if (JSON.stringify(input).length > MAX_ARGUMENTS)
        context.addIssue({ code: 'custom', message: `have more than ${MAX_ARGUMENTS} characters` });
      const meant = Object.entries(input).filter(
        ([name, value]) => required.includes(name) || !(typeof value === 'string' && value.trim() === ''),
      );
      return Object.fromEntries(meant);
    });
}
