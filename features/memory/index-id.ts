/** The id of the workflow that indexes the memory of a scope. */
import { createHash } from 'node:crypto';
import type { DocumentScope } from '#domain/files/document.ts';
import { MAX_WORKFLOW_ID } from '#domain/ids.ts';

/** One workflow for a scope: it indexes all its documents, one after the other. A long user is named by a digest. */
export function indexWorkflowId({ tenant, agent, user }: DocumentScope): string {
  const id = `index/${tenant}/${agent}/${user ?? ''}`;
  if (user === null || id.length <= MAX_WORKFLOW_ID) return id;
  return `index/${tenant}/${agent}/${createHash('sha256').update(user).digest('hex')}`;
}

/** Whether it is the id of an index for the user, with any agent, whose key has no slash. */
export function isIndexOf(workflowId: string, tenant: string, user: string): boolean {
  const [agent = ''] = workflowId.slice(`index/${tenant}/`.length).split('/', 1);
  return workflowId === indexWorkflowId({ tenant, agent, user });
}
