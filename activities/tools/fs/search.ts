/** search: lines of the workspace's files that match a regular expression (ripgrep's, which takes linear time). */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import type { HeldFolder } from '#activities/workspace/contract.ts';
import { shown, withFileProblems } from '#activities/workspace/file-problem.ts';
import {
  createMatchReader,
  type FoundFile,
  type FoundLine,
  PLACE_ARGS,
} from '#activities/workspace/search/ripgrep-matches.ts';
import { ripgrep } from '#activities/workspace/search/ripgrep.ts';
import { type ToolResult, toolError } from '#domain/tool.ts';

/** Greatest size of an answer, like that of read_file and exec. */
const MAX_CHARS = 30_000;
const MAX_LINE_CHARS = 500;

const input = z.object({
  pattern: z.string().min(1).max(4000).describe('Regular expression (no look-around), for one line'),
  path: textField(4096, 'Folder or file to search, relative to the workspace').default('.'),
  glob: textField(1000, 'Only files of this kind, such as *.ts or src/**/*.md').optional(),
  context: z.int().min(0).max(20).default(0).describe('Lines to show before and after each match'),
  max_results: z.int().min(1).max(1000).default(100).describe('Matching lines to show'),
  ignore_case: z.boolean().default(false).describe('Treat upper and lower case alike'),
  include_ignored: z.boolean().default(false).describe('Also files that .gitignore leaves out'),
});

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'files'>>({
  name: 'search',
  description:
    'Search the contents of the workspace with a regular expression. Binary files, files over 16 MB and .git are passed over.',
  keywords:
    'grep find look for word string occurrence code text in all files ripgrep where used function defined definition occurs mention mentions appear pattern match usages symbol class variable todo',
  group: 'fs',
  common: true,
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ pattern, path }) => (path === '.' ? pattern : `${pattern} in ${path}`),
  parameterAliases: { regex: 'pattern', query: 'pattern' },
  run: ({ files }, request, call) =>
    withFileProblems(async (): Promise<ToolResult> => {
      const path = request.path === '' ? '.' : request.path;
      const one = !(await files.isFolder(call, path));
      // What may not be read is refused: that nothing matches there would be wrong, and a pipe would never end.
      if (one) await files.readBytes(call, path, 0);
      const folder = await files.hold(call, one ? dirname(path) : path, 'search');
      try {
        const reader = createMatchReader(request.max_results);
        // A link that is named is followed. What it leads to is checked again before a line of it is shown.
        const target = one ? `./${basename(path)}` : '.';
        const end = await ripgrep(folder, argumentsOf(request, one), target, call.signal, reader.take);
        if (end.ended === 'cancelled') return toolError('Cancelled', 'the search was stopped');
        if (end.ended === 'unstarted')
          return toolError('ExecutionFailed', `ripgrep could not be started: ${end.errors}`);
        if (end.code === 2 && reader.files.length === 0 && end.errors.trim() !== '')
          return toolError('InvalidArgs', `pattern or glob: ${patternProblem(end.errors)}`);
        return { ok: true, text: await render(folder, reader.files, request.max_results, end.ended) };
      } finally {
        await folder.close();
      }
    }),
});

/** Without ripgrep's advice to use options that the model does not have. */
function patternProblem(errors: string): string {
  return errors
    .trim()
    .replace(/^rg: /, '')
    .replace(/\s*Consider enabling [^]*$/, '');
}

function argumentsOf(request: Input, one: boolean): string[] {
  const args = [...PLACE_ARGS, '--sort', 'path', '--max-filesize', '16M', '--encoding', 'none'];
  args.push('--max-count', String(request.max_results), '--context', String(request.context));
  if (request.ignore_case) args.push('--ignore-case');
  if (request.include_ignored || one) args.push('--no-ignore');
  if (request.glob !== undefined && !one) args.push('--glob', request.glob);
  args.push('-e', request.pattern);
  return args;
}

/** ripgrep opens files by name and reports positions. The text comes from the file that may be read, if it may. */
async function render(
  folder: HeldFolder,
  found: readonly FoundFile[],
  max: number,
  ended: string,
): Promise<string> {
  const out: string[] = [];
  let remaining = MAX_CHARS;
  for (const file of found) {
    if (remaining < 0) break;
    const name = shown(folder.inside === '' ? file.path : `${folder.inside}/${file.path}`);
    const offsets = file.lines.map(({ offset }) => offset);
    const lines = (await folder.linesAt(file.path, offsets, MAX_LINE_CHARS * 4)) ?? [];
    for (const [index, bytes] of lines.entries()) {
      const { number, match } = file.lines[index] as FoundLine;
      const mark = match ? ':' : '-';
      const line = `${name}${mark}${number}${mark}${lineText(bytes)}`;
      remaining -= line.length + 1;
      if (remaining >= 0) out.push(line);
    }
  }
  if (out.length === 0) out.push('(no match)');
  if (remaining < 0) out.push(`[more than ${MAX_CHARS} characters; narrow the pattern, path or glob]`);
  if (ended === 'enough') out.push(`[stopped at ${max} matches; narrow the search or raise max_results]`);
  if (ended === 'timeout') out.push('[the search took too long and is not complete; narrow path or glob]');
  return out.join('\n');
}

function lineText(bytes: Buffer): string {
  const text = bytes.toString('utf8').replace(/\r$/, '').replaceAll('\0', '');
  if (text.length <= MAX_LINE_CHARS) return text;
  return `${text.slice(0, MAX_LINE_CHARS).replace(/[\ud800-\udbff]$/, '')} [line cut]`;
}
