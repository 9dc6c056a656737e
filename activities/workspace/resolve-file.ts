/** From a path of a call to a place on disk, and the word to who follows what is read and written there. */
import { realpath } from 'node:fs/promises';
import type { PathRules } from '#domain/path-rules.ts';
import type { FileScope } from './files.ts';
import { resolvePath, type SafePath } from './resolve-path.ts';
import { makeWorkspace } from './workspace-folder.ts';

export interface Resolvers {
  resolve(scope: FileScope, path: string): Promise<SafePath>;
  /** `isWhole`: nothing of what the file had stays. */
  resolveChange(scope: FileScope, path: string, isWhole: boolean): Promise<SafePath>;
}

/** Each throws FileProblem, as resolvePath. */
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
      const safe = await at(scope, path, 'write');
      // Before it is: what is begun and not done is a change too.
      scope.use?.wrote(safe.absolute);
      if (await isFollowed(scope, safe)) await scope.origins?.changed(safe.inside, isWhole);
      return safe;
    },
  };
}

/** Of the workspace, and not of another root. */
async function isFollowed({ origins, workspace }: FileScope, { root }: SafePath): Promise<boolean> {
  return origins !== undefined && root === (await realpath(workspace));
}
