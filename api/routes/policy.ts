/** What holds for all agents of a tenant, between the settings and the agent (PO-1). */
import { z } from 'zod';
import { findTenantPolicy, saveTenantPolicy } from '#activities/store/tenant-policy-store.ts';
import { policyWarnings } from '#domain/policy/check-policy.ts';
import { shownTenantPolicySchema, tenantPolicySchema } from '#domain/schema/policy.ts';
import type { TenantPolicy } from '#domain/tenant.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';

export function addPolicyRoutes(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/policy',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['policy'],
        summary: "Get the tenant's policy",
        querystring: z.strictObject({}),
        response: { 200: shownTenantPolicySchema, ...problems() },
      },
    },
    async (request) => showPolicy((await findTenantPolicy(deps.pool, callerOf(request).tenant)) ?? {}),
  );

  app.put(
    '/v1/policy',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['policy'],
        summary: "Replace the tenant's policy",
        description: 'Holds for every call that is judged from now on, also in turns that run.',
        body: tenantPolicySchema,
        response: { 200: shownTenantPolicySchema, ...problems() },
      },
    },
    async (request) => {
      await saveTenantPolicy(deps.pool, callerOf(request).tenant, request.body);
      return showPolicy(request.body);
    },
  );
}

function showPolicy(policy: TenantPolicy): z.infer<typeof shownTenantPolicySchema> {
  const warnings = policyWarnings(policy.tools ?? {}).map(
    ({ path, message }) => `tools.${path.join('.')}: ${message}`,
  );
  // Rows were checked when they were written.
  return { ...(policy as Omit<z.infer<typeof shownTenantPolicySchema>, 'warnings'>), warnings };
}
