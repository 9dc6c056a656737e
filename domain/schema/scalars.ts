/** Small schemas that all nouns share: names, texts, times, pages. Workflows only `import type` from here. */
import { z } from 'zod';
import { isMessageId, isName, isSessionKey } from '../ids.ts';
import { fieldOf, isRecord, isStorable } from '../outside-value.ts';

/** The type that a schema returns, read-only. */
export type Kept<Schema extends z.ZodType> = Unchanged<z.output<Schema>>;
type Unchanged<Value> = Value extends object
  ? { readonly [Name in keyof Value]: Unchanged<Value[Name]> }
  : Value;

/** The row that an answer of the schema shows: its times are Dates. */
export type Stored<Schema extends z.ZodType> = Dated<Kept<Schema>>;
type Dated<Row> = {
  readonly [Name in keyof Row]: Name extends `${string}_at` | `valid_${string}` | 'at'
    ? Date | Extract<Row[Name], null>
    : Row[Name];
};

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

/** Name of an agent, tenant or tool: one plain path segment. */
export const nameSchema = z
  .string()
  .refine(isName, 'must be 1 to 64 letters, digits, _ or -, and begin with a letter or digit');

export const sessionKeySchema = z
  .string()
  .refine(isSessionKey, 'must be 1 to 200 letters, digits or . _ : @ + -, and begin with a letter or digit')
  .meta({ examples: ['support:4711'] });

/** Ids of messages, turns, calls and approvals. */
export const idSchema = z
  .string()
  .refine(isMessageId, 'must be 1 to 128 letters, digits or . _ : -, and begin with a letter or digit');

/** Text of 1 to `max` UTF-16 units. */
export function textSchema(max: number) {
  return z.string().min(1).max(max).refine(isStorable, 'must be Unicode text without NUL');
}

/** A text that says something: a message. */
export function wordsSchema(max: number) {
  return textSchema(max).refine((text) => /\S/.test(text), 'must be more than blanks');
}

/** A short text without a required form: channel, user, title. */
export const labelSchema = textSchema(200);

/** ISO 8601 with offset, as answers contain it. */
export const timeSchema = z.string().meta({ format: 'date-time', examples: ['2026-01-31T12:00:00.000Z'] });

/** A time as models write it: ISO 8601, where a day alone is its first moment and a time without an offset is in UTC. */
export const readTimeSchema = z
  .string()
  .max(64)
  .transform((text, context) => {
    const [, day = '', time = '00:00', offset = 'Z'] = WRITTEN_TIME.exec(text.trim()) ?? [];
    const isDay = z.iso.date().safeParse(day).success;
    const read = z.iso.datetime({ offset: true }).safeParse(`${day}T${withSeconds(time)}${offset}`);
    if (isDay && read.success) return new Date(read.data).toISOString();
    context.addIssue('must be a time such as 2026-05-01T09:00:00Z, or a day such as 2026-05-01');
    return z.NEVER;
  });

const WRITTEN_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;

function withSeconds(time: string): string {
  return time.length === 5 ? `${time}:00` : time;
}

export const jsonObjectSchema = z.record(z.string(), z.unknown());

/**
 * Accepts fields also under other systems' names. A field that occurs under both names is refused under the other name,
 * like an unknown field.
 */
export function withAliases<Schema extends z.ZodType>(
  names: Readonly<Record<string, string>>,
  schema: Schema,
) {
  return z.preprocess((text) => {
    if (!isRecord(text)) return text;
    const named = (name: string): string => {
      const own = fieldOf(names, name);
      return own === undefined || Object.hasOwn(text, own) ? name : own;
    };
    return Object.fromEntries(Object.entries(text).map(([name, value]) => [named(name), value]));
  }, schema);
}

type ChangeShape<Shape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends z.ZodOptional
    ? z.ZodNullable<Shape[Name]>
    : Shape[Name] extends z.ZodType
      ? z.ZodOptional<Shape[Name]>
      : never;
};

/** For changes: an absent field stays, and null removes an optional one. */
export function changeShape<Shape extends z.ZodRawShape>(shape: Shape): ChangeShape<Shape> {
  const changed = Object.entries(shape).map(([name, field]) => [
    name,
    field instanceof z.ZodOptional ? field.nullable() : (field as z.ZodType).optional(),
  ]);
  return Object.fromEntries(changed) as ChangeShape<Shape>;
}

/** `?limit=&after=`: `after` is the `next_cursor` of the previous page. `cursor` is another name of it. */
export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(200).default(50).describe('Rows on a page'),
  after: z.string().max(500).optional().describe('`next_cursor` of the page before'),
  cursor: z.string().max(500).optional().describe('Another name for `after`'),
} as const;

export function pageSchema<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('Give it as `after` to get the next page'),
  });
}

/** Link to it in the Temporal web UI; null when no UI address is configured. */
export const linksSchema = z.object({ temporal: z.string().nullable() });

export const refusedRequestSchema = z
  .object({ what: z.string(), by: z.string(), problem: z.string(), at: timeSchema })
  .nullable()
  .describe('The last of them, and who it said had sent it');
