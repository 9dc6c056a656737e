/** The policy for all agents of one tenant: `policy` of its row, between the settings and the agent (PO-1). */
import type { tenantPolicySchema } from './schema/policy.ts';
import type { Kept } from './schema/scalars.ts';

/**
 * The tenant whose admins run the deployment: only they create tenants, rotate keys and reload settings. The settings
 * refer to its secrets.
 */
export const OPERATOR_TENANT = 'default';

export type TenantPolicy = Kept<typeof tenantPolicySchema>;
