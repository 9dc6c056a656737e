/** What an MCP server asks a person, on the wire and in rows. */
import { z } from 'zod';

/** `choices` is a list of some of the options. */
const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'choices'] as const;
const FIELD_FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

export const mcpFormSchema = z.object({
  server: z.string(),
  message: z.string(),
  url: z.string().optional().describe('To be opened; approved when it is done'),
  login: z
    .enum(['mcp', 'program'])
    .optional()
    .describe(
      'The user of the turn must log in at the MCP server, or give credentials for the program, that `server` names; approved by itself when that is done',
    ),
  prompt: z
    .object({
      system: z.string(),
      messages: z.array(z.object({ role: z.enum(['user', 'assistant']), text: z.string() })).readonly(),
      max_tokens: z.int(),
    })
    .optional()
    .describe('What the agent’s model answers when it is approved (sampling); whole'),
  fields: z
    .array(
      z.object({
        name: z.string(),
        title: z.string(),
        description: z.string().optional(),
        type: z.enum(FIELD_TYPES),
        required: z.boolean(),
        format: z.enum(FIELD_FORMATS).optional(),
        /** Least number of characters, least number, or least number of choices. */
        min: z.number().optional(),
        max: z.number().optional(),
        options: z
          .array(z.object({ value: z.string(), title: z.string() }))
          .readonly()
          .optional(),
        default: z.union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()]).optional(),
      }),
    )
    .readonly(),
});
