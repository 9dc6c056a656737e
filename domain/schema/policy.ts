/** A tenant's policy on the wire. */
import { z } from 'zod';
import { sharedExecPolicySchema, toolPolicySchema } from './agent.ts';

/** What a tenant's row holds (`TenantPolicy`). */
export const tenantPolicySchema = z
  .strictObject({
    tools: toolPolicySchema.optional(),
    exec: sharedExecPolicySchema.optional(),
  })
  .meta({
    examples: [{ tools: { deny: ['group:runtime'] }, exec: { categories: { package_install: false } } }],
  });

export const shownTenantPolicySchema = z.object({
  tools: toolPolicySchema.optional(),
  exec: sharedExecPolicySchema.optional(),
  warnings: z
    .array(z.string())
    .meta({ description: 'Rules that do what they say and perhaps not what was meant' }),
});
