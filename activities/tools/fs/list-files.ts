/** list_files: the immediate children of a folder, sorted by name, with sizes. */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { Entry } from '#activities/workspace/contract.ts';
import { shown, withFileProblems } from '#activities/workspace/file-problem.ts';

/** More entries do not help a model; the text stays under 64 KB for names of usual length. */
const MAX_ENTRIES = 1000;

const input = z.object({
  path: textField(4096, 'Folder, relative to the workspace; the workspace itself when left out').default('.'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'files'>>({
  name: 'list_files',
  description:
    'List the files and folders directly inside a folder of the workspace, sorted by name, with sizes in bytes.',
  keywords: 'directory ls dir tree contents browse show what is there how many big size subfolder',
  group: 'fs',
  common: true,
  replay: 'readonly',
  input,
  limits: { duration: 'short', instant: true, timeoutSeconds: 10 },
  summary: ({ path }) => path,
  aliases: { list_directory: {} },
  forms: {
    clawft: {
      name: 'list_directory',
      description: 'List directory contents (immediate children, sorted alphabetically).',
      input: z.object({ path: z.string().describe('Directory path relative to workspace') }),
    },
  },
  run: ({ files }, { path }, call) =>
    withFileProblems(async () => {
      const { entries, total, guide } = await files.list(call, path === '' ? '.' : path, MAX_ENTRIES);
      if (total === 0) return { ok: true, text: '(the folder is empty)' };
      const lines = entries.map(line);
      if (total > MAX_ENTRIES) lines.push(`[${total - MAX_ENTRIES} more; use glob with a narrower pattern]`);
      if (guide !== undefined) lines.push(`[${guide}]`);
      return { ok: true, text: lines.join('\n') };
    }),
});

function line({ name, kind, size }: Entry): string {
  const plain = shown(name);
  if (kind === 'folder') return `${plain}/`;
  if (kind === 'file') return `${plain} (${size} bytes)`;
  return `${plain} (${kind === 'link' ? 'symbolic link' : 'not a regular file'})`;
}
