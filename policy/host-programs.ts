/** Which files commands of this host start, for what a person allowed always (SH-2). */
import type { ResolveProgram } from '@tempoclaw/shell-judge';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { createProgramResolver } from './resolve-program.ts';

/** `environment` is this process's own, of which commands get a part. */
export function createHostPrograms(
  environment: Readonly<Record<string, string | undefined>>,
  workspaceRoot: string,
): ResolveProgram {
  const { PATH = '' } = commandEnvironment(environment);
  return createProgramResolver({ folders: PATH.split(':'), workspaceRoot });
}
