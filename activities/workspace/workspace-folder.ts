/** Where an agent's files are: one folder a tenant and workspace name under the configured root (VF-5). */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isName } from '#domain/ids.ts';
import { Failure } from '#domain/errors.ts';

/** Names are single path segments, so no name reaches out of its tenant. */
export function workspaceFolder(root: string, tenant: string, workspace: string): string {
  for (const name of [tenant, workspace])
    if (!isName(name))
      throw new Failure('InvalidInput', `${JSON.stringify(name)} cannot name a workspace folder`);
  return join(root, tenant, workspace);
}

/**
 * Makes it where it is not there: for its owner only. Those above it can be passed and not listed, since commands may run as another
 * user than ours (own-as.ts). The mode of one that is there is its owner's.
 */
export async function makeWorkspace(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o711 });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}
