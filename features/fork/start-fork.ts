/** The workflow that makes a fork, as it is started: one for each key. */
import type { WorkflowStart } from '#domain/workflow-reach.ts';
import { FORK_SESSION, type ForkSessionInput, forkWorkflowId } from './contract.ts';

/** Safe to repeat. */
export function forkStart(tenant: string, session: string): WorkflowStart {
  const input: ForkSessionInput = { tenant, session };
  return {
    type: FORK_SESSION.type,
    id: forkWorkflowId(tenant, session),
    input,
    summary: `makes the fork ${session}`,
    tenant,
    session,
  };
}
