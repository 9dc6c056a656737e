/** workspace_dir: the folder in which file tools and commands work. */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';

export const tool = defineTool<Record<string, never>, Pick<ToolDeps, 'shell'>>({
  name: 'workspace_dir',
  description:
    'The absolute path of the workspace: the folder that file tools are held in and commands start in.',
  keywords:
    'where working directory path folder cwd pwd location current full absolute project root located am i',
  group: 'other',
  replay: 'readonly',
  input: z.object({}),
  limits: { duration: 'short', timeoutSeconds: 5 },
  run: async ({ shell }, _input, { workspace, sandbox }) => ({
    ok: true,
    text: await shell.workspacePath(workspace, sandbox),
  }),
});
