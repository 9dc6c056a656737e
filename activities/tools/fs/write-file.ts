/**
 * write_file: writes a whole file, or appends to it. `verify`: a file with the content has been written. An append
 * records the digests of the file before and after it under the call's key, so a repeat does not append twice.
 */
import { basename } from 'node:path';
import { z } from 'zod';
import { attachmentLine } from '#domain/files/attachment.ts';
import { defineTool, type RunningCall, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { fileDigest } from '#activities/workspace/change-journal.ts';
import { FileProblem, withFileProblems } from '#activities/workspace/file-problem.ts';
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
  deliver: z
    .boolean()
    .default(false)
    .describe('Also keep the file for the person; the result says how the answer sends it'),
});

type WriteDeps = Pick<ToolDeps, 'files' | 'keepBefore' | 'keepFile'>;

export const tool = defineTool<z.infer<typeof input>, WriteDeps>({
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
  forms: {
    clawft: {
      description: 'Write content to a file, creating it and parent directories if needed.',
      input: input.pick({ path: true, content: true }),
    },
  },
  serial: true,
  run: (deps, args, call) =>
    withFileProblems(async () => {
      if (args.deliver && !deps.keepFile)
        return toolError(
          'InvalidArgs',
          'deliver: no file can be given to people here; name it in your answer',
        );
      const text = await write(deps, args, call);
      return { ok: true, text: `${text}${args.deliver ? await delivered(deps, args.path, call) : ''}` };
    }),
  async probe(deps, { path, content, append, deliver }, call) {
    const { files } = deps;
    const done = (verb: string): ToolResult => ({
      ok: true,
      text: `${verb}: ${path} (by an earlier attempt of this call)`,
    });
    const there = append
      ? await probeChange(files, call, path, true, done('Appended to file'))
      : (await isWritten(files, path, content, call))
        ? done('File written')
        : undefined;
    return there?.ok && deliver
      ? { ...there, text: `${there.text}${await delivered(deps, path, call)}` }
      : there;
  },
  // It finds out itself whether the file was written.
  inverse: ({ path }, { id }) => ({ tool: RESTORE_FILE, args: { path, call: id } }),
});

/** Bytes, as many as one call writes; all of them are searched for secrets. */
const MAX_DELIVERED = 10_000_000;

type Input = z.infer<typeof input>;

/** Returns what the model reads of it. @throws FileProblem */
async function write(
  { files, keepBefore }: WriteDeps,
  { path, content, append }: Input,
  call: RunningCall,
): Promise<string> {
  const added = Buffer.from(content);
  await keepBefore?.(call, path, (old) => (append && old ? Buffer.concat([old, added]) : added));
  if (append) {
    await files.change(call, path, true, (old) => (old === null ? added : Buffer.concat([old, added])));
    return `Appended to file: ${path} (${added.length} bytes)`;
  }
  if (hasPlaceholder(content)) {
    await files.change(call, path, true, (old) => {
      keepSecrets(path, old, content, call.hasSecret);
      return Buffer.from(content);
    });
    return `File written: ${path} (${added.length} bytes; [REDACTED] was written as such: it stands for no value)`;
  }
  const { created, bytes } = await files.write(call, path, content);
  return `File ${created ? 'created' : 'written'}: ${path} (${bytes} bytes)`;
}

async function isWritten(
  files: WriteDeps['files'],
  path: string,
  content: string,
  call: RunningCall,
): Promise<boolean> {
  const required = Buffer.from(content);
  try {
    const bytes = await files.readBytes(call, path, required.length);
    return bytes !== undefined && fileDigest(bytes) === fileDigest(required);
  } catch (error) {
    if (error instanceof FileProblem) return false;
    throw error;
  }
}

/** The file is written, whatever becomes of this. Safe to repeat. */
async function delivered({ files, keepFile }: WriteDeps, path: string, call: RunningCall): Promise<string> {
  try {
    const bytes = await files.readBytes(call, path, MAX_DELIVERED);
    if (!bytes || !keepFile) return `\nIt is not delivered: it has more than ${MAX_DELIVERED} bytes`;
    const kept = await keepFile(call, { bytes, name: basename(path) });
    return `\n${attachmentLine(kept)} To send it, link it in your answer: [${kept.name ?? 'file'}](artifact:${kept.artifact})`;
  } catch (error) {
    if (error instanceof FileProblem) return `\nIt is not delivered: ${error.message}`;
    throw error;
  }
}
