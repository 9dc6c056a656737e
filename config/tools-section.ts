/** The section `tools` of the settings. */
import { z } from 'zod';
import { DEFAULT_DENIED_PATHS } from '#domain/files/path-rules.ts';
import { POLICY_ALIASES, policyObjectSchema } from '#domain/schema/agent.ts';
import { withAliases } from '#domain/schema/scalars.ts';

/** What applies to every agent, below its own policy. */
export const toolsSection = withAliases(
  POLICY_ALIASES,
  policyObjectSchema.safeExtend({
    /** No limit with 0 or less, as in GoClaw. */
    rate_limit_per_hour: z.int().min(-1_000_000).max(1_000_000).optional(),
    /** How many of these may be made at once; by default all. */
    rate_limit_burst: z.int().min(1).max(1_000_000).optional(),
    /**
     * VF-4: denied besides the state folder; relative to the workspace's root for file tools, anywhere in a path for
     * commands.
     */
    denied_paths: z
      .array(
        z
          .string()
          .regex(
            /^(?!\/)(?!(?:.*\/)?\.{1,2}(?:\/|$))[^\0]{1,200}$/,
            'must be a relative path without . and ..',
          ),
      )
      .max(100)
      .default([...DEFAULT_DENIED_PATHS]),
  }),
);
