/** Makes the index of memory follow a write, whoever wrote: the model, a person over HTTP, or the sweep. */
import { documentKind, type DocumentScope } from '#domain/files/document.ts';
import { INDEX_DOCUMENT } from './contract.ts';
import { indexWorkflowId } from './index-id.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { unlessUnavailable } from '#temporal/unless-unavailable.ts';

/**
 * Must run after the commit of the write. Safe to repeat. If Temporal does not accept it now, the sweep finds it by its
 * row.
 */
export async function startIndexing(
  reach: Pick<WorkflowReach, 'signalWithStart'>,
  scope: DocumentScope,
): Promise<void> {
  const { tenant, agent, user } = scope;
  const start = {
    type: INDEX_DOCUMENT.type,
    id: indexWorkflowId(scope),
    input: { tenant, agent, user },
    summary: `index of the memory of ${agent}`,
    tenant,
    agent,
    user: user ?? undefined,
  };
  await reach.signalWithStart(start, INDEX_DOCUMENT.signals.written, undefined).catch(unlessUnavailable);
}

/** Does the same after a change of the document at `path`, if it is one of memory. */
export async function indexAfter(
  reach: Pick<WorkflowReach, 'signalWithStart'>,
  scope: DocumentScope,
  path: string,
): Promise<void> {
  if (documentKind(path) === 'memory') await startIndexing(reach, scope);
}
