/** A file of the caller's workspace, while it is attached to a team's task. */
import { basename } from 'node:path';
import { TEAM_LIMITS } from '#domain/team/team.ts';
import { toolError, type ToolFailure } from '#domain/tool.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { withFileProblems } from '../workspace/file-problem.ts';
import type { Files } from '../workspace/contract.ts';

export interface TaskFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export async function readAttachment(
  files: Pick<Files, 'readBytes'>,
  path: string | undefined,
  call: RunningCall,
): Promise<TaskFile | ToolFailure> {
  if (!path) return toolError('InvalidArgs', 'path is required for attach action');
  return withFileProblems(async () => {
    const bytes = await files.readBytes(call, path, TEAM_LIMITS.fileBytes);
    if (!bytes) return toolError('InvalidArgs', `${path} is larger than ${TEAM_LIMITS.fileBytes} bytes`);
    return { name: basename(path).slice(0, 255), bytes };
  });
}
