/** The outcome of a change of a file (Files.change) whose attempt was lost, by the digests that it had recorded. */
import type { ToolResult } from '#domain/tool.ts';
import { FileProblem, withFileProblems } from './file-problem.ts';
import type { Files, FileScope } from './contract.ts';

/**
 * `done` when the file is as the change left it, OutcomeUnknown when it differs from both, undefined when it is
 * unchanged.
 */
export async function probeChange(
  files: Pick<Files, 'change'>,
  scope: FileScope,
  path: string,
  mayCreate: boolean,
  done: ToolResult,
): Promise<ToolResult | undefined> {
  const result = await withFileProblems(async () => {
    await files.change(scope, path, mayCreate, () => {
      throw new FileProblem('ExecutionFailed', 'it is not done');
    });
    return done;
  });
  // The call itself reports other errors.
  return result.ok || result.code === 'OutcomeUnknown' ? result : undefined;
}
