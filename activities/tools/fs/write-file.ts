/**
 * write_file: a whole file, or its end. `idempotent`: a whole write gives the same file again, and an append notes the
 * digests of the file before and after it under the call's key, so a repeat does not append twice.
 */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { hasPlaceholder, keepSecrets } from '#activities/workspace/keep-secrets.ts';

const input = z.object({
  path: z
    .string()
    .min(1)
    .max(4096)
    .describe('File path, relative to the workspace; missing folders are made'),
  content: z.string().max(10_000_000).describe('The text to write'),
  append: z.boolean().default(false).describe('Add to the end of the file instead of replacing it'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'files'>>({
  name: 'write_file',
  description:
    'Write a text file in the workspace, replacing what was there, or add to its end with append. Makes missing folders.',
  group: 'fs',
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ path }) => path,
  ignoredParameters: ['deliver'],
  serial: true,
  run: ({ files }, { path, content, append }, call) =>
    withFileProblems(async () => {
      if (!append && hasPlaceholder(content)) {
        await files.change(call, path, true, (old) => {
          keepSecrets(path, old, content, call.hasSecret);
          return Buffer.from(content);
        });
        return {
          ok: true,
          text: `File written: ${path} (${Buffer.byteLength(content)} bytes; [REDACTED] was written as such: it stands for no value)`,
        };
      }
      if (!append) {
        const { created, bytes } = await files.write(call, path, content);
        return { ok: true, text: `File ${created ? 'created' : 'written'}: ${path} (${bytes} bytes)` };
      }
      const added = Buffer.from(content);
      await files.change(call, path, true, (old) => (old === null ? added : Buffer.concat([old, added])));
      return { ok: true, text: `Appended to file: ${path} (${added.length} bytes)` };
    }),
});
