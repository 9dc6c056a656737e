/** IN-7: whether the web console is served, and how long its sessions last. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';

const schema = z
  .strictObject({
    enabled: z.boolean().default(true),
    /** A session ends when its browser has sent nothing for this long. */
    idleMinutes: z.number().int().min(1).max(43_200).default(720),
    /** A session ends at this age, whatever its browser does. */
    maxAgeHours: z.number().int().min(1).max(8_760).default(168),
  })
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly console: z.output<typeof schema>;
  }
}

export const consoleSettings = defineSection({
  name: 'console',
  schema,
  variables: [[['TEMPOCLAW_CONSOLE'], 'console.enabled', 'boolean']],
});
