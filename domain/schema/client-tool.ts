/**
 * Tools that the sender of a message runs (IN-3): the model may call them in the turn, which then waits until the sender
 * answers with the result.
 */
import { z } from 'zod';
import { jsonObjectSchema, type Kept, textSchema } from './scalars.ts';

const MAX_TOOLS = 128;
/** UTF-16 units of all definitions as JSON; each step sends them to the model. */
const MAX_LENGTH = 131_072;

export type ClientTool = Kept<typeof clientToolSchema>;

const clientToolSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, 'must be a name of at most 64 letters, digits, _ and -'),
  description: textSchema(8_192).default(''),
  parameters: jsonObjectSchema
    .default({ type: 'object', properties: {} })
    .describe('JSON Schema of the arguments, an object'),
});

export const clientToolsSchema = z
  .array(clientToolSchema)
  .max(MAX_TOOLS)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, 'two tools have one name')
  .refine(
    (tools) => JSON.stringify(tools).length <= MAX_LENGTH,
    `must have at most ${MAX_LENGTH} characters as JSON`,
  );
