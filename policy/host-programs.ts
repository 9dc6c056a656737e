/** Which files commands on this host start, for permanent permissions (SH-2). */
import type { ResolveProgram } from '@tempoclaw/shell-judge';
import { commandEnvironment } from '@tempoclaw/sandbox/settings';
import { createProgramResolver } from './resolve-program.ts';

/** `environment` is this process's own; commands get a part of it. */
export function createHostPrograms(
  environment: Readonly<Record<string, string | undefined>>,
  workspaceRoot: string,
): ResolveProgram {
  const { PATH = '' } = commandEnvironment(environment);
  return createProgramResolver({ folders: PATH.split(':'), workspaceRoot });
}
