/** Makes the answer of a route from rows, by the route's schema. */
import { z } from 'zod';
import { isRecord } from '#domain/outside-value.ts';

/**
 * What a handler may return for an answer: times may be Dates, numbers the text of a bigint or numeric, fields that can
 * be null undefined, and all of it read-only. Further fields of a row are not sent.
 */
export type Answerable<Answer> = Answer extends string | number
  ? Answer | (string extends Answer ? Date : number extends Answer ? string : never)
  : Answer extends object
    ? unknown extends Answer[keyof Answer]
      ? object
      : {
          readonly [Name in keyof Answer]:
            | Answerable<Answer[Name]>
            | (null extends Answer[Name] ? undefined : never);
        }
    : Answer;

/** The answer outside a route, such as in a stream. Throws ZodError for a row that does not match the schema. */
export function encodeAnswer<Schema extends z.ZodType>(
  schema: Schema,
  row: Answerable<z.output<Schema>>,
): z.input<Schema> {
  return z.encode(schema, answerOf(schema, row) as z.output<Schema>);
}

/** The row with times as ISO 8601, numbers as numbers, and null in fields that can be null and have no value. */
export function answerOf(schema: unknown, row: unknown): unknown {
  if (row instanceof Date) return row.toISOString();
  if (schema instanceof z.ZodOptional) return row === undefined ? row : answerOf(schema.unwrap(), row);
  if (schema instanceof z.ZodNumber && typeof row === 'string') return Number(row);
  if (schema instanceof z.ZodNullable) return (row ?? null) === null ? null : answerOf(schema.unwrap(), row);
  if (schema instanceof z.ZodUnion)
    return schema.options
      .map((option) => z.safeEncode(option as z.ZodType, answerOf(option, row)))
      .find(({ success }) => success)?.data;
  if (schema instanceof z.ZodArray && Array.isArray(row))
    return row.map((item) => answerOf(schema.element, item));
  if (!(schema instanceof z.ZodObject) || !isRecord(row)) return row;
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, answerOf(field, row[name])]);
  return { ...row, ...Object.fromEntries(fields.filter(([, value]) => value !== undefined)) };
}
