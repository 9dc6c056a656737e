/** What explain knows of the workers' machine, as far as the API's own can tell. */
import type { ResolveProgram } from '@tempoclaw/shell-judge';
import { createWorkspaceOf, type WorkspaceOf } from '#activities/workspace/workspace-folder.ts';
import type { ApiCore } from '#api/api-parts.ts';
import { childEnvironment } from '#config';
import type { ApiPart } from '#domain/feature.ts';
import { createHostPrograms } from '#policy/host-programs.ts';

declare module '#api/deps.ts' {
  interface FeatureDeps {
    readonly explain: {
      readonly workspaceOf: WorkspaceOf;
      /** Which files commands start. */
      readonly resolveProgram: ResolveProgram;
    };
  }
}

export function createApiPart({ config: { workspaceRoot } }: ApiCore): ApiPart {
  const resolveProgram = createHostPrograms(childEnvironment({}), workspaceRoot);
  return { deps: { explain: { workspaceOf: createWorkspaceOf(workspaceRoot), resolveProgram } } };
}
