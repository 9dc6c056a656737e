/** What holds for all agents of one tenant: its row's `policy`, between the settings and the agent (PO-1). */
import type { tenantPolicySchema } from './schema/policy.ts';
import type { Kept } from './schema/scalars.ts';

/** Whose admins run the deployment: they alone make tenants, rotate keys and read settings again. The settings refer to its secrets. */
export const OPERATOR_TENANT = 'default';

export type TenantPolicy = Kept<typeof tenantPolicySchema>;
