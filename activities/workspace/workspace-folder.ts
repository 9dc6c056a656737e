/** Where an agent's files are: one folder a tenant and workspace name under the configured root (VF-5). */
import { join } from 'node:path';
import { isName } from '#domain/ids.ts';
import { Failure } from '#domain/errors.ts';

/** Names are single path segments, so no name reaches out of its tenant. */
export function workspaceFolder(root: string, tenant: string, workspace: string): string {
  for (const name of [tenant, workspace])
    if (!isName(name))
      throw new Failure('InvalidInput', `${JSON.stringify(name)} cannot name a workspace folder`);
  return join(root, tenant, workspace);
}
