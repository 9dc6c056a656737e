/** Serves the tenant's policy. */
import type { z } from 'zod';
import {
  findPolicyChange,
  findPolicyWithChange,
  listPolicyChanges,
  replaceTenantPolicy,
  saveTenantPolicy,
} from '#store/tenant-policy-store.ts';
import { Failure } from '#domain/errors.ts';
import { effectiveEgress } from '#domain/policy/effective-egress.ts';
import { policy as resource } from '#domain/resource/policy.ts';
import {
  policyChangeIdSchema,
  type shownTenantPolicySchema,
  tenantPolicySchema,
} from '#domain/schema/policy.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import type { TenantDb } from '#store/postgres/tenant-db.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { readPage } from '../server/pages.ts';
import { hookWarnings, warningsOf } from '../policy-warnings.ts';
import { refuseHooks } from '../refuse-hooks.ts';
import { serveResource } from '../serve-resource.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  serveResource(app, resource, {
    getPolicy: ({ tenant, db }) => showPolicy(deps, tenant, db),
    async setPolicy({ tenant, db, by, body, query: { change } }) {
      const rules = effectiveEgress(deps.policy.settings.egress, [body.egress]);
      await refuseHooks(deps, tenant, body.hooks, rules);
      if (change === undefined) await saveTenantPolicy(db, body, by);
      else if (!(await replaceTenantPolicy(db, body, by, change)))
        throw new Failure(
          'Conflict',
          `Somebody has changed the policy since change ${change}; read it again`,
        );
      return showPolicy(deps, tenant, db);
    },
    listPolicyChanges: ({ db, query }) =>
      readPage(
        query,
        (limit, after) => listPolicyChanges(db, limit, after && String(after[0])),
        ({ id }) => [id],
        ([id, ...more]) => more.length === 0 && policyChangeIdSchema.safeParse(id).success,
        ({ before, after, ...change }) => ({ ...change, from: { ...before }, to: { ...after } }),
      ),
    async restorePolicy({ tenant, db, by, body }) {
      const change = await findPolicyChange(db, body.change);
      if (!change) return undefined;
      const before = tenantPolicySchema.safeParse(change.before ?? {});
      if (!before.success)
        throw new Failure(
          'Unprocessable',
          `The policy of then cannot be put back: ${schemaProblem(before.error, 'policy')}`,
        );
      await saveTenantPolicy(db, before.data, by);
      return showPolicy(deps, tenant, db);
    },
  });
}

async function showPolicy(
  deps: ApiDeps,
  tenant: string,
  db: TenantDb,
): Promise<z.infer<typeof shownTenantPolicySchema>> {
  const { policy, change } = await findPolicyWithChange(db);
  const warnings = [
    ...(await hookWarnings(deps, tenant, policy.hooks)),
    // The names of the operator's secrets are for the operator.
    ...(tenant === OPERATOR_TENANT ? await hookWarnings(deps, tenant, deps.policy.settings.hooks) : []).map(
      (warning) => `in the settings, ${warning}`,
    ),
    ...(await warningsOf(deps, tenant, policy.tools)),
    ...(await warningsOf(deps, tenant, deps.policy.settings.tools)).map(
      (warning) => `in the settings, ${warning}`,
    ),
  ];
  // Rows were checked when they were written.
  const shown = policy as Omit<z.infer<typeof shownTenantPolicySchema>, 'change' | 'warnings'>;
  return { ...shown, change, warnings };
}
