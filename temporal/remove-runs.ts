/** Removes what Temporal keeps of a session or of a user's memory (DU-8). */
import type { WorkflowClient, WorkflowService } from '@temporalio/client';
import { INDEX_DOCUMENT, isIndexOf } from '#features/memory/contract.ts';

/**
 * Removes the runs of a session's workflows, or those that index the memory of a user, that began until then, wherever they are;
 * returns how many. Safe to repeat. Throws Failures.
 */
export type RemoveRuns = (
  tenant: string,
  of: { readonly session: string } | { readonly user: string },
  until: Date,
) => Promise<number>;

export function runRemoverOf(
  client: Pick<WorkflowClient, 'list'>,
  service: Pick<WorkflowService, 'deleteWorkflowExecution'>,
  namespace: string,
  ask: <Result>(request: () => Promise<Result>) => Promise<Result>,
): RemoveRuns {
  return async (tenant, of, until) => {
    // A user may have any name, and Temporal finds none with a quote or a backslash by it.
    const which =
      'session' in of ? `TempoclawSession = '${of.session}'` : `WorkflowType = '${INDEX_DOCUMENT.type}'`;
    const query = `TempoclawTenant = '${tenant}' and ${which} and StartTime <= '${until.toISOString()}'`;
    let removed = 0;
    for await (const { workflowId, runId } of client.list({ query })) {
      if ('user' in of && !isIndexOf(workflowId, tenant, of.user)) continue;
      const workflowExecution = { workflowId, runId };
      await ask(() => service.deleteWorkflowExecution({ namespace, workflowExecution }));
      removed += 1;
    }
    return removed;
  };
}
