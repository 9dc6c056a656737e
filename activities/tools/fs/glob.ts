/** glob: files of the workspace by a pattern for their path. */
import { compileGlob } from '@tempoclaw/shell-judge/glob';
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { shown, withFileProblems } from '#activities/workspace/file-problem.ts';
import { ripgrep } from '#activities/workspace/search/ripgrep.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';

const MAX_SHOWN = 1_000;
/** Greatest number of files before sorting; beyond it the list contains the first that were found. */
const MAX_FOUND = 50_000;

const input = z.object({
  pattern: z
    .string()
    .min(1)
    .max(1000)
    .describe('Such as **/*.ts or src/{a,b}/*.json; * stays within a folder, ** goes through folders'),
  path: textField(4096, 'Folder to begin in, relative to the workspace').default('.'),
  include_ignored: z.boolean().default(false).describe('Also files that .gitignore leaves out'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'files'>>({
  name: 'glob',
  description: 'Find files of the workspace by a pattern over their path, sorted by name.',
  keywords:
    'wildcard match extension names filename locate paths every markdown images pictures csv json typescript python named ending star image png pdf photos end ends sql called',
  group: 'fs',
  common: true,
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ pattern, path }) => (path === '.' ? pattern : `${pattern} in ${path}`),
  run: ({ files }, request, call) =>
    withFileProblems(async (): Promise<ToolResult> => {
      if (request.pattern.startsWith('/'))
        return toolError('InvalidPath', 'pattern: begins at the folder of `path`; leave the / away');
      const matches = compileGlob(request.pattern);
      if (typeof matches === 'string') return toolError('InvalidArgs', `pattern: ${matches}`);
      const folder = await files.hold(call, request.path === '' ? '.' : request.path, 'search');
      try {
        const found: string[] = [];
        const args = ['--files', '--null', ...(request.include_ignored ? ['--no-ignore'] : [])];
        const take = (name: string): boolean => {
          const path = name.replace(/^\.\//, '');
          if (matches(path)) found.push(path);
          return found.length < MAX_FOUND;
        };
        const end = await ripgrep(folder, args, '.', call.signal, take, '\0');
        if (end.ended === 'cancelled') return toolError('Cancelled', 'the search was stopped');
        if (end.ended === 'unstarted')
          return toolError('ExecutionFailed', `ripgrep could not be started: ${end.errors}`);
        return { ok: true, text: listing(found, folder.inside, end.ended) };
      } finally {
        await folder.close();
      }
    }),
});

function listing(found: readonly string[], inside: string, ended: string): string {
  const notes: string[] = [];
  if (found.length > MAX_SHOWN)
    notes.push(`${found.length - MAX_SHOWN} more files match; narrow the pattern`);
  if (ended === 'timeout') notes.push('the search took too long and is not complete; begin deeper with path');
  if (ended === 'enough') notes.push('there are more files than are looked at; begin deeper with path');
  if (found.length === 0) return ['(no file matches)', ...notes].join('\n');
  const names = [...found].sort((a, b) => (a < b ? -1 : 1)).slice(0, MAX_SHOWN);
  const lines = names.map((name) => shown(inside === '' ? name : `${inside}/${name}`));
  return [...lines, ...notes.map((note) => `[${note}]`)].join('\n');
}
