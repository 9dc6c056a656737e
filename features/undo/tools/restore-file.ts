/**
 * restore_file: puts back what a file had before a call wrote it. Only an undo calls it. A file that has changed since
 * stays as it is.
 */
import { z } from 'zod';
import { fileDigest } from '#activities/workspace/change-journal.ts';
import { FileProblem, withFileProblems } from '#activities/workspace/file-problem.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { RESTORE_FILE } from '#domain/files/before-image.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool, type RunningCall } from '#policy/define-tool.ts';
import type { BeforeImage } from '../before-images.ts';

export interface UndoDeps {
  before(
    caller: Pick<RunningCall, 'tenant' | 'sessionKey'>,
    call: string,
    path: string,
  ): Promise<BeforeImage | undefined>;
}

const input = z.object({
  path: z.string().min(1).max(4096).describe('The file'),
  call: z.string().min(1).max(200).describe('Id of the call that wrote it'),
});

type Needs = Pick<ToolDeps, 'files'> & { readonly undo: UndoDeps };

export const tool = defineTool<z.infer<typeof input>, Needs>({
  name: RESTORE_FILE,
  description: 'Put back what a file had before a call wrote it.',
  group: 'fs',
  replay: 'idempotent',
  isReversal: true,
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ path }) => path,
  serial: true,
  run: ({ files, undo }, { path, call: of }, call) =>
    withFileProblems(async () => {
      const before = await undo.before(call, of, path);
      if (!before) return toolError('NotFound', `what ${path} had before that call was not kept`);
      const { content, after, read } = before;
      // So that the file is marked again as it was.
      call.origins?.readDocument(read);
      const check = (now: Buffer | null): void => {
        if (fileDigest(now) !== after && fileDigest(now) !== fileDigest(content))
          throw new FileProblem('InvalidArgs', `${path} has changed since; nothing was restored`);
      };
      if (content === null) {
        await files.remove(call, path, check);
        return { ok: true, text: `File removed: ${path} (it was not there before)` };
      }
      await files.change(call, path, true, (now) => {
        check(now);
        return content;
      });
      return { ok: true, text: `File restored: ${path} (${content.length} bytes)` };
    }),
});
