/** Teams on the wire (TE-1). */
import { z } from 'zod';
import { TEAM_LIMITS } from '../team.ts';
import { labelSchema, nameSchema, textSchema, timeSchema } from './scalars.ts';

const idsSchema = z.array(labelSchema).max(1_000);

export const teamSettingsSchema = z.strictObject({
  allow_user_ids: idsSchema.optional().meta({ description: 'Only these users bring work to the team' }),
  deny_user_ids: idsSchema.optional(),
  allow_channels: idsSchema.optional(),
  deny_channels: idsSchema.optional(),
  progress_notifications: z
    .boolean()
    .optional()
    .meta({ description: 'The lead hears of each result at once; else of all of a request together' }),
  blocker_escalation: z.strictObject({ enabled: z.boolean().optional() }).optional(),
  lease_seconds: z.int().min(1).max(TEAM_LIMITS.longestLeaseSeconds).optional(),
  reminder_minutes: z.number().positive().max(10_080).optional(),
  reminders: z.int().min(0).max(100).optional(),
});

const membersSchema = z.array(nameSchema).max(TEAM_LIMITS.members);
const wordsSchema = textSchema(10_000).nullable();

export const teamCreateSchema = z
  .strictObject({
    key: nameSchema,
    lead: nameSchema.meta({ description: 'Key of an agent' }),
    members: membersSchema.meta({ description: 'Keys of agents, without the lead' }),
    name: labelSchema.nullable().optional(),
    description: wordsSchema.optional(),
    settings: teamSettingsSchema.optional(),
  })
  .meta({ examples: [{ key: 'report', lead: 'main', members: ['writer', 'researcher'] }] });

export const teamChangeSchema = z
  .strictObject({
    lead: nameSchema.optional(),
    members: membersSchema.optional().meta({ description: 'All members from now on' }),
    name: labelSchema.nullable().optional(),
    description: wordsSchema.optional(),
    settings: teamSettingsSchema.optional().meta({ description: 'All settings from now on' }),
  })
  .meta({ examples: [{ members: ['writer'] }] });

export const teamSchema = z.object({
  key: nameSchema,
  name: z.string().nullable(),
  description: z.string().nullable(),
  lead: nameSchema,
  members: z.array(nameSchema),
  settings: z.record(z.string(), z.unknown()),
  created_at: timeSchema,
  updated_at: timeSchema,
});
