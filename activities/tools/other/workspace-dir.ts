/** workspace_dir: where file tools and commands work. */
import { z } from 'zod';
import { defineTool } from '#activities/define-tool.ts';

export const tool = defineTool<Record<string, never>, 'shell'>({
  name: 'workspace_dir',
  description:
    'The absolute path of the workspace: the folder that file tools are held in and commands start in.',
  group: 'other',
  replay: 'readonly',
  input: z.object({}),
  limits: { duration: 'short', timeoutSeconds: 5 },
  run: async ({ shell }, _input, { workspace, sandbox }) => ({
    ok: true,
    text: await shell.workspacePath(workspace, sandbox),
  }),
});
