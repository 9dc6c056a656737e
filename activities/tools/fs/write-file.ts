/**
 * write_file: writes a whole file, or appends to it. `verify`: a file with the content has been written. An append
 * records the digests of the file before and after it under the call's key, so a repeat does not append twice.
 */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { fileDigest } from '#activities/workspace/change-journal.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { hasPlaceholder, keepSecrets } from '#activities/workspace/keep-secrets.ts';
import { probeChange } from '#activities/workspace/probe-change.ts';
import { RESTORE_FILE } from '#domain/files/before-image.ts';
import { toolError, type ToolResult } from '#domain/tool.ts';

const input = z.object({
  path: z
    .string()
    .min(1)
    .max(4096)
    .describe('File path, relative to the workspace; missing folders are made'),
  content: textField(10_000_000, 'The text to write'),
  append: z.boolean().default(false).describe('Add to the end of the file instead of replacing it'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'files' | 'keepBefore'>>({
  name: 'write_file',
  description:
    'Write a text file in the workspace, replacing what was there, or add to its end with append. Makes missing folders.',
  keywords:
    'save create new file document on disk store put export make append draft report notes markdown csv json script results overwrite generate letter',
  group: 'fs',
  common: true,
  replay: 'verify',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ path }) => path,
  refusedParameters: {
    deliver: 'deliver: no file is sent to the chat with it; leave it out, and name the file in your answer',
  },
  forms: {
    clawft: {
      description: 'Write content to a file, creating it and parent directories if needed.',
      input: input.pick({ path: true, content: true }),
    },
  },
  serial: true,
  run: ({ files, keepBefore }, { path, content, append }, call) =>
    withFileProblems(async () => {
      const added = Buffer.from(content);
      await keepBefore?.(call, path, (old) => (append && old ? Buffer.concat([old, added]) : added));
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
      await files.change(call, path, true, (old) => (old === null ? added : Buffer.concat([old, added])));
      return { ok: true, text: `Appended to file: ${path} (${added.length} bytes)` };
    }),
  async probe({ files }, { path, content, append }, call) {
    const before = '(by an earlier attempt of this call)';
    if (append)
      return probeChange(files, call, path, true, { ok: true, text: `Appended to file: ${path} ${before}` });
    const required = Buffer.from(content);
    const there = await withFileProblems<ToolResult>(async () => {
      const bytes = await files.readBytes(call, path, required.length);
      const isWritten = bytes !== undefined && fileDigest(bytes) === fileDigest(required);
      return isWritten ? { ok: true, text: `File written: ${path} ${before}` } : NOT_WRITTEN;
    });
    return there.ok ? there : undefined;
  },
  // It finds out itself whether the file was written.
  inverse: ({ path }, { id }) => ({ tool: RESTORE_FILE, args: { path, call: id } }),
});

const NOT_WRITTEN = toolError('FileNotFound', 'not written');
