/** A tenant's policy on the wire. */
import { z } from 'zod';
import { hooksSchema } from '#domain/schema/hook.ts';
import { domainRulesSchema, policyObjectSchema, sharedExecPolicySchema, toolPolicySchema } from './agent.ts';
import { jsonObjectSchema, timeSchema } from './scalars.ts';

/** The contents of a tenant's row (`TenantPolicy`). */
export const tenantPolicySchema = z
  .strictObject({
    tools: toolPolicySchema.optional(),
    exec: sharedExecPolicySchema.optional(),
    egress: domainRulesSchema.optional(),
    hooks: hooksSchema.optional(),
  })
  .meta({
    examples: [{ tools: { ask: [{ tool: 'exec', args: { command: '*push*' } }] } }],
  });

export const policyChangeIdSchema = z.string().regex(/^[1-9]\d{0,17}$/, 'must be the `id` of a change');

export const shownTenantPolicySchema = z.object({
  tools: policyObjectSchema.optional(),
  exec: sharedExecPolicySchema.optional(),
  egress: domainRulesSchema.optional(),
  hooks: hooksSchema.optional(),
  change: z.string().describe('Id of its newest change; `0` when it was never changed'),
  warnings: z.array(z.string()).describe('Rules that do what they say and perhaps not what was meant'),
});

/** Policies as they were when written: rules may have other names now, so they are shown unchanged. */
export const policyChangeSchema = z.object({
  id: policyChangeIdSchema,
  from: jsonObjectSchema,
  to: jsonObjectSchema,
  changed_by: z.string(),
  changed_at: timeSchema,
});
