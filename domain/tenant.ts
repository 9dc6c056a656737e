/** What holds for all agents of one tenant: its row's `policy`, between the settings and the agent (PO-1). */
import type { tenantPolicySchema } from './schema/policy.ts';
import type { Kept } from './schema/scalars.ts';

export type TenantPolicy = Kept<typeof tenantPolicySchema>;
