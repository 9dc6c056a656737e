/** Arguments that another program defines and checks: here they are only checked by name and size. */
import { z } from 'zod';
import { fieldOf, isRecord } from '#domain/outside-value.ts';

/** Characters of all arguments: about a file. */
const MAX_ARGUMENTS = 1_048_576;

/**
 * `schema` is JSON Schema. It is not compiled, because it could be made to take forever. Required arguments must be
 * present. Optional ones that are empty are left out, because models fill in what they do not mean; with `placeholders`
 * also those that only say so (`null`, `n/a`, `optional`).
 */
export function uncheckedArguments(
  schema: Readonly<Record<string, unknown>>,
  { placeholders = false }: { readonly placeholders?: boolean } = {},
): z.ZodType {
  const { properties: named } = schema;
  const properties = isRecord(named) ? named : undefined;
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
      const isEmpty = (name: string, value: unknown): boolean => {
        const text = typeof value === 'string' ? value.trim() : undefined;
        return text === '' || (placeholders && isPlaceholder(text, fieldOf(properties, name)));
      };
      return Object.fromEntries(
        Object.entries(input).filter(([name, value]) => required.includes(name) || !isEmpty(name, value)),
      );
    });
}

/** Words by which models say that they give nothing. */
const PLACEHOLDER =
  /^(?:null|none|nil|undefined|n\/a|optional|__(?:omit|skip|empty)__|placeholder|not_(?:set|applicable|provided|used|needed)|(?:do|should)_not_[a-z_]+|https?:\/\/example\.com\/?)$/i;

/** What the schema itself lists has a meaning, and what it lists elsewhere (`$ref`) is not known here. */
function isPlaceholder(value: string | undefined, property: unknown): boolean {
  return value !== undefined && PLACEHOLDER.test(value) && !mayMean(value, property);
}

function mayMean(value: string, property: unknown): boolean {
  if (!isRecord(property)) return false;
  const { enum: listed, examples, const: only, default: usual, anyOf, oneOf } = property;
  const meant = [listed, examples, [only, usual]];
  if ('$ref' in property || meant.some((each) => Array.isArray(each) && each.includes(value))) return true;
  return [anyOf, oneOf].some((each) => Array.isArray(each) && each.some((one) => mayMean(value, one)));
}
