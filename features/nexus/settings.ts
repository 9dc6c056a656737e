/** IN-11: which Nexus endpoints reach agents, and for whom their callers speak. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { MAX_TENANT } from '#domain/ids.ts';
import { labelSchema, nameSchema } from '#domain/schema/scalars.ts';

const MAX_ENDPOINTS = 100;

/** A part of Temporal's rule for the names of endpoints, so that the ids of workflows fit. */
const endpointSchema = z
  .string()
  .regex(
    /^[a-zA-Z][a-zA-Z0-9-]{0,62}$/,
    'must be the name of a Nexus endpoint: 1 to 63 letters, digits or -',
  );

const callerSchema = z.strictObject({
  tenant: nameSchema.max(MAX_TENANT),
  /** Absent: callers reach all sessions of the tenant, as a key without a user does. */
  user: labelSchema.exactOptional(),
  /** Absent: all of the tenant's. */
  agents: z.array(nameSchema).min(1).max(100).exactOptional(),
});

export type NexusCaller = z.output<typeof callerSchema>;

const schema = z
  .strictObject({
    endpoints: z
      .record(endpointSchema, callerSchema)
      .default({})
      .refine((endpoints) => Object.keys(endpoints).length <= MAX_ENDPOINTS, {
        error: `has more than ${MAX_ENDPOINTS} endpoints`,
      }),
  })
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly nexus: z.output<typeof schema>;
  }
}

export const nexusSettings = defineSection({ name: 'nexus', schema });
