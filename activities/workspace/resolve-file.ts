/** Resolves a path of a call to a place on disk, and notifies those that record reads and writes there. */
import { realpath } from 'node:fs/promises';
import type { PathRules } from '#domain/files/path-rules.ts';
import type { FileScope } from './contract.ts';
import { refuseFolderPath, resolvePath, type SafePath } from './resolve-path.ts';
import { makeWorkspace } from './workspace-folder.ts';

export interface Resolvers {
  resolve(scope: FileScope, path: string): Promise<SafePath>;
  /** `isWhole`: none of the file's old content stays. */
  resolveChange(scope: FileScope, path: string, isWhole: boolean): Promise<SafePath>;
}

/** Each throws FileProblem, like resolvePath. */
export function createResolvers(rules: PathRules): Resolvers {
  const at = async (scope: FileScope, path: string, access: 'read' | 'write'): Promise<SafePath> => {
    await makeWorkspace(scope.workspace, scope.workspaceFrom);
    return resolvePath(rules, scope.workspace, path, access, scope.mount);
  };
  return {
    async resolve(scope, path) {
      const safe = await at(scope, path, 'read');
      if (await isFollowed(scope, safe)) await scope.origins?.read(safe.inside);
      return safe;
    },
    async resolveChange(scope, path, isWhole) {
      refuseFolderPath(path);
      const safe = await at(scope, path, 'write');
      // This comes before the change: an interrupted change is a change too.
      scope.use?.wrote(safe.absolute);
      if (await isFollowed(scope, safe)) await scope.origins?.changed(safe.inside, isWhole);
      return safe;
    },
  };
}

/** Whether the file is in the workspace, and not in another root. */
async function isFollowed({ origins, workspace }: FileScope, { root }: SafePath): Promise<boolean> {
  return origins !== undefined && root === (await realpath(workspace));
}
