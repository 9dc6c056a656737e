/** read_file: a text file, whole or in pages of lines, or a small image. */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { FileProblem, withFileProblems } from '#activities/workspace/file-problem.ts';
import type { FilePage } from '#activities/workspace/read-page.ts';
import { IMAGE_BYTES, readImage } from '#domain/model/image.ts';
import { toolError } from '#domain/tool.ts';

/** Greatest number of characters in one answer. */
export const READ_MAX_CHARS = 50_000;
/** Bytes of UTF-8: with its notes, a page stays within what the model sees of a result (EX-5), so it can read on. */
const READ_MAX_BYTES = 60_000;

const input = z.object({
  path: z.string().min(1).max(4096).describe('File path, relative to the workspace'),
  offset: z.int().min(0).max(1e9).default(0).describe('First line to read, counted from 0'),
  limit: z.int().min(1).max(100_000).optional().describe('How many lines to read'),
  line_numbers: z.boolean().default(false).describe('Put its number (from 1) before each line'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'files'>>({
  name: 'read_file',
  description:
    'Read a text file of the workspace. At most 50,000 characters (60,000 bytes) are given at once; the end of the answer says how to read on. An image (PNG, JPEG, GIF, WebP; 3 MB) is shown.',
  keywords: 'open view show cat print look at content source lines load text readme log config first last',
  group: 'fs',
  common: true,
  replay: 'readonly',
  input,
  limits: { duration: 'short', instant: true, timeoutSeconds: 10 },
  summary: ({ path }) => path,
  forms: {
    goclaw: { input: input.pick({ path: true, offset: true, limit: true }) },
    clawft: { description: 'Read file contents within the workspace.', input: input.pick({ path: true }) },
  },
  run: ({ files }, { path, offset, limit, line_numbers }, call) =>
    withFileProblems(async () => {
      const page = await files
        .readPage(call, path, {
          offset,
          limit,
          maxChars: READ_MAX_CHARS,
          maxBytes: READ_MAX_BYTES,
          bytesPerLine: line_numbers ? String(offset + READ_MAX_CHARS).length + 1 : 0,
        })
        .catch(async (error: unknown) => {
          // A binary file may be an image.
          const isBinary = error instanceof FileProblem && error.code === 'ExecutionFailed';
          const bytes = isBinary ? await files.readBytes(call, path, IMAGE_BYTES) : undefined;
          if (bytes && readImage(bytes)) return bytes;
          throw error;
        });
      if (page instanceof Uint8Array) return { ok: true, text: `${path} is an image.`, images: [page] };
      if (page.size === 0) return { ok: true, text: '(the file is empty)' };
      if (page.lines === 0)
        return toolError(
          'InvalidArgs',
          `offset ${offset} is past the end of ${path}, which has ${page.totalLines} lines`,
        );
      const text = line_numbers ? numbered(page.text, offset) : page.text;
      return { ok: true, text: text + footer(page, offset) };
    }),
});

function numbered(text: string, offset: number): string {
  const ended = text.endsWith('\n');
  const lines = (ended ? text.slice(0, -1) : text).split('\n');
  const width = String(offset + lines.length).length;
  const out = lines.map((line, index) => `${String(offset + index + 1).padStart(width)}\t${line}`).join('\n');
  return ended ? `${out}\n` : out;
}

function footer(page: FilePage, offset: number): string {
  const notes: string[] = [];
  const of = page.totalLines === undefined ? '' : ` of ${page.totalLines}`;
  if (page.cutLine) {
    const bytes = Buffer.byteLength(page.text);
    // The replacement for a byte that is not UTF-8 has three bytes.
    const rest = page.invalidUtf8 ? 'cut -b' : `cut -b ${bytes + 1}-`;
    notes.push(
      `line ${offset} is too long to be given at once and was cut after ${bytes} bytes; read the rest of it with exec (${rest}), the next line with offset=${offset + 1}`,
    );
  } else if (page.more) {
    notes.push(
      `lines ${offset} to ${offset + page.lines - 1}${of}, ${page.size} bytes in all; read on with offset=${offset + page.lines}`,
    );
  }
  if (page.invalidUtf8) notes.push('some bytes are not UTF-8 and are shown as \ufffd');
  if (page.guide !== undefined) notes.push(page.guide);
  if (notes.length === 0) return '';
  return `${page.text.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`;
}
