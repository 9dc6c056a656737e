/** Has the index of memory follow a write, whoever wrote: the model, a person over HTTP, the sweep. */
import { documentKind, type DocumentScope } from '#domain/document.ts';
import { INDEX_DOCUMENT, indexWorkflowId } from './contract.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import { unlessUnavailable } from '#temporal/unless-unavailable.ts';

/** After the commit of the write. Safe to repeat. What Temporal does not take now, the sweep finds by its row. */
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

/** The same after a change of the document at `path`, where it is one of memory. */
export async function indexAfter(
  reach: Pick<WorkflowReach, 'signalWithStart'>,
  scope: DocumentScope,
  path: string,
): Promise<void> {
  if (documentKind(path) === 'memory') await startIndexing(reach, scope);
}
