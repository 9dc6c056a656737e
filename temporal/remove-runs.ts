/** Removes the runs that Temporal stores (DU-8). */
import type { WorkflowClient, WorkflowService } from '@temporalio/client';

/** A session's runs, or runs of one workflow type with these ids. */
export type RunsToRemove =
  | { readonly session: string }
  | { readonly type: string; readonly isMeant: (workflowId: string) => boolean };

/** Removes the runs that started until then, in any state; returns how many. Safe to repeat. @throws Failure */
export type RemoveRuns = (tenant: string, runs: RunsToRemove, until: Date) => Promise<number>;

export function runRemoverOf(
  client: Pick<WorkflowClient, 'list'>,
  service: Pick<WorkflowService, 'deleteWorkflowExecution'>,
  namespace: string,
  ask: <Result>(request: () => Promise<Result>) => Promise<Result>,
): RemoveRuns {
  return async (tenant, runs, until) => {
    const which =
      'session' in runs ? `TempoclawSession = '${runs.session}'` : `WorkflowType = '${runs.type}'`;
    const query = `TempoclawTenant = '${tenant}' and ${which} and StartTime <= '${until.toISOString()}'`;
    let removed = 0;
    for await (const { workflowId, runId } of client.list({ query })) {
      if ('isMeant' in runs && !runs.isMeant(workflowId)) continue;
      const workflowExecution = { workflowId, runId };
      await ask(() => service.deleteWorkflowExecution({ namespace, workflowExecution }));
      removed += 1;
    }
    return removed;
  };
}
