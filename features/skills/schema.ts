/** Skills in requests and answers. */
import { z } from 'zod';
import { SKILL_LIMITS, SKILL_VISIBILITIES } from './rules/skill.ts';
import { labelSchema, timeSchema } from '#domain/schema/scalars.ts';

export const skillNameSchema = z
  .string()
  .max(4 * SKILL_LIMITS.name)
  .regex(/^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*$/u, 'must be letters and digits with single hyphens between them')
  .meta({ examples: ['release-notes'] });

const visibility = z
  .enum(SKILL_VISIBILITIES)
  .describe('`private`: for agents and users with a grant; `public`: for all');

export const skillPublishSchema = z.strictObject({
  visibility: visibility.default('private'),
  files: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(SKILL_LIMITS.path),
        content: z
          .base64()
          .max(Math.ceil(SKILL_LIMITS.fileBytes / 3) * 4)
          .describe('Base64'),
      }),
    )
    .min(1)
    .max(SKILL_LIMITS.files)
    .describe('The folder: SKILL.md, and what it refers to'),
  version: z
    .int()
    .min(0)
    .optional()
    .describe(
      'Only while this is its newest version, 0 while there is none: what others have published since is not lost',
    ),
});

export const skillFolderSchema = z.object({
  version: z.int(),
  visibility,
  files: z.array(z.object({ path: z.string(), content: z.string().describe('Base64') })),
});

export const skillVersionSchema = z.object({
  version: z.int(),
  description: z.string(),
  allowed_tools: z.array(z.string()).nullable().describe('Null: it does not say'),
  agreed: z.boolean().describe('A person has agreed to it: it may bring in internal tools'),
  sha256: z.string().describe('Of paths and contents'),
  files: z.array(z.object({ path: z.string(), digest: z.string(), size: z.int() })),
  published_by: z.string(),
  session_key: z.string().nullable(),
  turn_id: z.string().nullable(),
  call_id: z.string().nullable().describe('The call that has published it'),
  created_at: timeSchema,
});

export const skillSchema = skillVersionSchema.extend({
  name: z.string(),
  visibility,
  owner: z.string().nullable().describe('Whose tool may publish further versions'),
});

export const skillGrantSchema = z.object({
  kind: z.enum(['agent', 'user']),
  subject: labelSchema,
  granted_by: z.string(),
  created_at: timeSchema,
});
