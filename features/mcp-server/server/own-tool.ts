/** Tools of this server itself, with arguments checked by zod. */
import { schemaProblem } from '#domain/schema/problem-words.ts';
import type { Tool } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { jsonSchemaOf } from '#policy/read-arguments.ts';
import { Failure } from '#domain/errors.ts';

export function inputSchemaOf(schema: z.ZodType): Tool['inputSchema'] {
  return { ...jsonSchemaOf(schema), type: 'object' };
}

/** Throws InvalidInput that says what is wrong. */
export function readArguments<Schema extends z.ZodType>(
  schema: Schema,
  args: Readonly<Record<string, unknown>>,
): z.output<Schema> {
  const read = schema.safeParse(args);
  if (read.success) return read.data;
  throw new Failure('InvalidInput', schemaProblem(read.error, 'arguments'));
}
