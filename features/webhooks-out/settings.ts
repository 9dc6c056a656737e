/** IN-4: the settings of webhooks. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { RETRY_SECONDS } from './contract.ts';
const schema = z
  .strictObject({
    /** Seconds from each failed attempt to the next; after the last one, a delivery is given up. */
    retrySeconds: z
      .array(z.number().positive().max(86_400))
      .max(20)
      .default([...RETRY_SECONDS]),
    /** A webhook that has only failed for this long is disabled. */
    disableAfterDays: z.number().min(0).max(365).default(5),
  })
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly webhooks: z.output<typeof schema>;
  }
}

export const webhooksSettings = defineSection({
  name: 'webhooks',
  schema,
  isLive: true,
});
