/** VF-4: whether the paths of an edited call may be used, so that an edit that could only fail uses up no approval. */
import { MOUNT } from '@tempoclaw/sandbox/settings';
import { sandboxOf } from '#domain/sandbox.ts';
import type { BindingCall, BoundFileDeps } from '../tool-call/bound-files.ts';
import { FileProblem } from '../workspace/file-problem.ts';
import type { Files } from '../workspace/contract.ts';

/** Says why a path of the call leads out of the workspace, or to what no tool may reach; undefined when none does. */
export type PathProblem = (
  call: Pick<BindingCall, 'tenant' | 'session' | 'agent' | 'context' | 'tool' | 'args'>,
) => Promise<string | undefined>;

/** The arguments that are paths, by the group of the tool. */
const PATHS: Readonly<Record<string, string | undefined>> = { fs: 'path', runtime: 'working_dir' };

export function createPathProblem({
  files,
  workspaceOf,
  sandbox,
}: Omit<BoundFileDeps, 'files'> & { readonly files: Pick<Files, 'isFolder'> }): PathProblem {
  return async ({ tenant, session, agent, context, tool, args }) => {
    const path = args[PATHS[tool.group] ?? ''];
    if (typeof path !== 'string' || path === '') return undefined;
    const { shows: _, ...workspace } = workspaceOf(tenant, agent, { ...context, session });
    const isBoxed = sandboxOf(sandbox, agent.sandbox) !== undefined;
    try {
      await files.isFolder({ ...workspace, idempotencyKey: '', mount: isBoxed ? MOUNT : undefined }, path);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      // What does not exist yet may be made by the call.
      return error.code === 'InvalidPath' || error.code === 'PermissionDenied' ? error.message : undefined;
    }
    return undefined;
  };
}
