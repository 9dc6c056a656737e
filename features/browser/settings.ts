/** Settings of the tool `browser`. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';

const schema = z
  .strictObject({
    /** Without it, the system's Chromium, else the one of the packages. */
    executable: z.string().min(1).max(4_096).exactOptional(),
    /**
     * A browser that somebody else has started, by its DevTools protocol; each session has a profile of its own in it.
     */
    endpoint: z
      .string()
      .regex(/^(?:https?|wss?):\/\/\S+$/, 'must be an address such as http://127.0.0.1:9222')
      .exactOptional(),
    /** This machine's address as that browser reaches it; the proxy of its traffic listens there. */
    proxyHost: z.string().min(1).max(253).default('127.0.0.1'),
    /** Browsers of a worker at once; 0 means none. */
    maxBrowsers: z.int().min(0).max(100).default(4),
    /** A browser that was idle for this long ends. */
    idleMinutes: z.number().positive().max(1_440).default(10),
  })
  .prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly browser: z.output<typeof schema>;
  }
}

export const browserSettings = defineSection({
  name: 'browser',
  schema,
  variables: [
    [['TEMPOCLAW_BROWSER_EXECUTABLE'], 'browser.executable', 'text'],
    [['TEMPOCLAW_BROWSER_ENDPOINT'], 'browser.endpoint', 'text'],
  ],
});
