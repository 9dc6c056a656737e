/**
 * edit: replaces one text by another in a file. It works on bytes, so the other parts stay unchanged, UTF-8 or not.
 * `verify`: the digests of the file before and after are recorded under the call's key (change-journal).
 */
import { z } from 'zod';
import { RESTORE_FILE } from '#domain/files/before-image.ts';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { FileProblem, withFileProblems } from '#activities/workspace/file-problem.ts';
import { hasPlaceholder, keepSecrets } from '#activities/workspace/keep-secrets.ts';
import { MAX_CHANGE_BYTES } from '#activities/workspace/change-file.ts';
import { probeChange } from '#activities/workspace/probe-change.ts';
import type { ToolResult } from '#domain/tool.ts';

const MAX_TEXT = 1_000_000;

const input = z.object({
  path: z.string().min(1).max(4096).describe('File path, relative to the workspace'),
  old_string: z.string().min(1).max(MAX_TEXT).describe('The exact text to replace, with its white space'),
  new_string: textField(MAX_TEXT, 'The text to put in its place'),
  replace_all: z
    .boolean()
    .default(false)
    .describe('Replace every occurrence; otherwise there must be exactly one'),
});

type Input = z.infer<typeof input>;

export const tool = defineTool<Input, Pick<ToolDeps, 'files' | 'keepBefore'>>({
  name: 'edit',
  description:
    'Replace an exact text in a file of the workspace. The old text must occur exactly once, unless replace_all is set.',
  keywords:
    'change modify rename fix patch correct update line word code source substitute swap paragraph sentence section part remove delete insert refactor adjust old text variable readme port number value setting',
  group: 'fs',
  common: true,
  replay: 'verify',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ path }) => path,
  serial: true,
  parameterAliases: { old_text: 'old_string', new_text: 'new_string', file_path: 'path' },
  aliases: { edit_file: {} },
  forms: {
    clawft: {
      name: 'edit_file',
      description: 'Replace old_text with new_text in a file. Exactly one match is required.',
      input: z.object({
        path: z.string().describe('File path relative to workspace'),
        old_text: z.string().describe('Text to find and replace'),
        new_text: z.string().describe('Replacement text'),
      }),
    },
  },
  run: ({ files, keepBefore }, args, call) =>
    withFileProblems(async () => {
      // clawft calls the parameter old_text.
      const [word, other] =
        call.calledAs === 'edit_file' ? ['old_text', 'new_text'] : ['old_string', 'new_string'];
      if (args.old_string === args.new_string)
        throw new FileProblem('InvalidArgs', `${word} and ${other} are identical; nothing to do`);
      await keepBefore?.(call, args.path, (old) => (old ? editedOrRefused(old, args) : undefined));
      let count = 0;
      const { done } = await files.change(call, args.path, false, (old) => {
        const edited = replaced(old ?? Buffer.alloc(0), args, word);
        count = edited.count;
        if (hasPlaceholder(args.new_string))
          keepSecrets(args.path, old, edited.bytes.toString('utf8'), call.hasSecret);
        return edited.bytes;
      });
      return done
        ? editedBefore(args)
        : { ok: true, text: `File edited: ${args.path} (${count} replacement(s))` };
    }),
  probe: ({ files }, args, call) => probeChange(files, call, args.path, false, editedBefore(args)),
  // A file that has changed there since has not the new text exactly once, so that the edit back is refused.
  inverse: ({ path, old_string, new_string, replace_all }, { id, isUncertain }) =>
    isUncertain || replace_all === true || new_string === ''
      ? { tool: RESTORE_FILE, args: { path, call: id } }
      : { tool: 'edit', args: { path, old_string: new_string, new_string: old_string } },
});

/** Undefined for an edit that will be refused, with the words of `replaced`. */
function editedOrRefused(old: Buffer, args: Input): Buffer | undefined {
  try {
    return replaced(old, args, 'old_string').bytes;
  } catch (error) {
    if (error instanceof FileProblem) return undefined;
    throw error;
  }
}

function editedBefore({ path }: Input): ToolResult {
  return { ok: true, text: `File edited: ${path} (by an earlier attempt of this call)` };
}

/** The texts are upstream's (vectors/edit.json). */
function replaced(old: Buffer, args: Input, word: string): { bytes: Buffer; count: number } {
  const from = Buffer.from(args.old_string);
  const to = Buffer.from(args.new_string);
  const places: number[] = [];
  for (let at = old.indexOf(from); at >= 0; at = old.indexOf(from, at + from.length)) places.push(at);
  if (places.length === 0)
    throw new FileProblem('InvalidArgs', `${word} not found in file${hint(old, args.old_string, word)}`);
  if (places.length > 1 && !args.replace_all)
    throw new FileProblem(
      'InvalidArgs',
      `${word} found ${places.length} times — use replace_all=true or provide a more specific match`,
    );
  const size = old.length + places.length * (to.length - from.length);
  if (size > MAX_CHANGE_BYTES)
    throw new FileProblem(
      'InvalidArgs',
      `the edited file would have ${size} bytes; ${MAX_CHANGE_BYTES} are the most`,
    );
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  let write = 0;
  for (const at of places) {
    write += old.copy(bytes, write, read, at);
    write += to.copy(bytes, write);
    read = at + from.length;
  }
  old.copy(bytes, write, read);
  return { bytes, count: places.length };
}

/** Says why a text that looks right may not be found. */
function hint(old: Buffer, text: string, word: string): string {
  // Compare bytes: Node aborts when it looks in a Buffer for a text with half of a surrogate pair.
  const has = (part: string): boolean => old.includes(Buffer.from(part));
  if (hasPlaceholder(text))
    return `: [REDACTED] stands for a secret that is hidden from you; choose a text without it`;
  if (!text.includes('\r') && has(text.replaceAll('\n', '\r\n')))
    return `: its lines end in CRLF; write \\r\\n for the line breaks of ${word} and of its replacement`;
  if (text.includes('\r') && has(text.replaceAll('\r\n', '\n')))
    return `: its lines end in LF alone; write \\n for the line breaks of ${word}`;
  const trimmed = text.trim();
  if (trimmed !== text && trimmed !== '' && has(trimmed))
    return `: it is there with other white space around it; read the file and copy it exactly`;
  return '';
}
