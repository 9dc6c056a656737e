/** The definitions of tools that the sender of a message runs. */
import { z } from 'zod';
import { CLIENT_TOOL_LIMITS } from '../turn/client-tool.ts';
import { jsonObjectSchema, textSchema } from './scalars.ts';

export const clientToolSchema = z.strictObject({
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
  .max(CLIENT_TOOL_LIMITS.tools)
  .refine((tools) => new Set(tools.map(({ name }) => name)).size === tools.length, 'two tools have one name')
  .refine(
    (tools) => JSON.stringify(tools).length <= CLIENT_TOOL_LIMITS.length,
    `must have at most ${CLIENT_TOOL_LIMITS.length} characters as JSON`,
  );
