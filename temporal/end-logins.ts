/** Has the calls go on that wait for a login which is there now. */
import { APPROVAL } from '#domain/approval/approval.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { WaitingLogin } from '#store/approvals/approval-logins.ts';
import { insertDecisionProof } from '#store/approvals/approval-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';

/**
 * Decides the approvals in the name of the users who have logged in. Safe to repeat; what cannot be reached now is found
 * by the sweep. @throws Failure
 */
export async function endLogins(
  { pool, reach }: { readonly pool: Pool; readonly reach: Pick<WorkflowReach, 'update'> },
  logins: readonly WaitingLogin[],
): Promise<void> {
  for (const { tenant, approval, user } of logins) {
    const key = `login/${approval}`;
    const sender = { by: user, user, scopes: ['approve'], keyId: null, via: 'api' } as const;
    await insertDecisionProof(forTenant(pool, tenant), approval, key, sender);
    const decision = { decision: 'approve', by: user } as const;
    await reach.update(approvalWorkflowId(approval), APPROVAL.updates.decide, decision, key);
  }
}
