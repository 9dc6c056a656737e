/** Agent links on the wire (DE-1). */
import { z } from 'zod';
import { LINK_DIRECTIONS, LINK_LIMITS, LINK_STATUSES } from '../agent-link.ts';
import { idSchema, jsonObjectSchema, labelSchema, nameSchema, textSchema, timeSchema } from './scalars.ts';

const settingsSchema = z
  .strictObject({
    user_allow: z.array(labelSchema).max(LINK_LIMITS.users).optional(),
    user_deny: z.array(labelSchema).max(LINK_LIMITS.users).optional(),
    require_role: nameSchema
      .optional()
      .meta({ description: 'A scope that the API key behind the turn must have' }),
  })
  .meta({ description: 'Deny wins over allow; with an allow list nobody else may use the link' });

const fields = {
  direction: z.enum(LINK_DIRECTIONS),
  status: z.enum(LINK_STATUSES),
  max_concurrent: z
    .int()
    .min(0)
    .max(LINK_LIMITS.concurrent)
    .meta({ description: 'Delegations over the link at once; 0: as many as the target takes' }),
  settings: settingsSchema,
  description: textSchema(LINK_LIMITS.description),
};

export const agentLinkCreateSchema = z
  .strictObject({
    source: nameSchema,
    target: nameSchema,
    direction: fields.direction.default('outbound'),
    status: fields.status.default('active'),
    max_concurrent: fields.max_concurrent.default(0),
    settings: settingsSchema.default({}),
    description: fields.description.optional(),
  })
  .refine(({ source, target }) => source !== target, 'an agent has no link to itself')
  .meta({ examples: [{ source: 'lead', target: 'writer', direction: 'outbound', max_concurrent: 2 }] });

export const agentLinkPatchSchema = z
  .strictObject({
    direction: fields.direction.optional(),
    status: fields.status.optional(),
    max_concurrent: fields.max_concurrent.optional(),
    settings: settingsSchema.optional(),
    description: fields.description.nullable().optional(),
  })
  .meta({ examples: [{ status: 'disabled' }] });

export const agentLinkSchema = z.object({
  id: idSchema,
  source: nameSchema,
  target: nameSchema,
  direction: fields.direction,
  status: fields.status,
  max_concurrent: z.int(),
  settings: jsonObjectSchema,
  description: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
});
