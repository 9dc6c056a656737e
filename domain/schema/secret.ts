/** Secrets on the wire: values go in and never come out. */
import { z } from 'zod';
import { nameSchema, textSchema, timeSchema } from './scalars.ts';

/** A shorter value cannot be told from other text, so it could not be hidden (REFERENCE §5). */
export const MIN_SECRET = 6;
/** A key file; UTF-16 units. */
export const MAX_SECRET = 65_536;

export const secretNameSchema = nameSchema;

export const secretValueSchema = textSchema(MAX_SECRET).refine(
  (value) => value.length >= MIN_SECRET,
  `must have at least ${MIN_SECRET} characters: a shorter value could not be hidden`,
);

export const secretPutSchema = z.strictObject({ value: secretValueSchema });

export const secretSchema = z.object({
  name: secretNameSchema,
  updated_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export const rotationSchema = z.object({
  key_id: z.string().meta({ description: 'The key that all rows are sealed with now' }),
  resealed: z.int().meta({ description: 'Rows that were sealed with another key' }),
});
