/** Files of the editor, also those with changes that are not saved: tools that the message brings. */
import { isAbsolute, relative, resolve } from 'node:path';
import {
  type AgentContext,
  type Diff,
  type FileSystemCapabilities,
  methods,
  type ReadTextFileRequest,
  type WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import type { ClientTool } from '#domain/schema/client-tool.ts';

/** What the answer to a call may have (the decision `respond`). */
const MAX_TEXT = 16_384;
/** Lines of a file that are read at once. */
const MAX_LINES = 2_000;
/** Of a file whose change is shown. An editor sends no more of the old one, whatever its size. */
const MAX_DIFF = { lines: 5_000, characters: 200_000 };

export interface EditorPlace {
  readonly sessionId: string;
  /** What the person has open, absolute. */
  readonly folder: string;
}

const path = { type: 'string', description: 'Absolute path' };
const number = { type: 'integer', minimum: 1 };

export function editorTools(fs: FileSystemCapabilities | undefined, folder: string): ClientTool[] {
  const where = `in the code editor of the person you talk with, who has this open: ${folder}`;
  const read = {
    name: 'read_text_file',
    description: `Reads a file ${where}. Changes that are not saved are in it.`,
    parameters: {
      type: 'object',
      properties: {
        path,
        line: { ...number, description: 'The first line to read, from 1' },
        limit: { ...number, description: `Lines to read, at most ${MAX_LINES}` },
      },
      required: ['path'],
    },
  };
  const write = {
    name: 'write_text_file',
    description: `Writes a whole file ${where}. It replaces what the file had.`,
    parameters: {
      type: 'object',
      properties: { path, content: { type: 'string', description: 'The whole text' } },
      required: ['path', 'content'],
    },
  };
  return [...(fs?.readTextFile ? [read] : []), ...(fs?.writeTextFile ? [write] : [])];
}

export interface EditorToolResult {
  /** For the model. */
  readonly text: string;
  /** For the person: what was written in place of what. */
  readonly edit?: Diff | undefined;
}

/** Runs a call of one of these tools. Safe to repeat. Undefined for another tool. */
export async function runEditorTool(
  client: AgentContext,
  { sessionId, folder }: EditorPlace,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<EditorToolResult | undefined> {
  if (tool !== 'read_text_file' && tool !== 'write_text_file') return undefined;
  const { path, content } = args;
  if (typeof path !== 'string' || !isAbsolute(path) || !isInside(folder, path))
    return { text: `Error: path must be absolute and in ${folder}` };
  const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
  const file = { sessionId, path: resolve(path) };
  try {
    if (tool === 'read_text_file') {
      const limit = Math.min(lineOf(args['limit']) ?? MAX_LINES, MAX_LINES);
      const request: ReadTextFileRequest = { ...file, line: lineOf(args['line']) ?? null, limit };
      const { content: text } = await client.request(methods.client.fs.readTextFile, request, options);
      return { text: cut(text) || '(the file is empty)' };
    }
    if (typeof content !== 'string') return { text: 'Error: content must be text' };
    return await write(client, { ...file, content }, options);
  } catch (error) {
    signal.throwIfAborted();
    return { text: cut(`Error: ${error instanceof Error ? error.message : String(error)}`) };
  }
}

/** How long the editor is waited for. */
interface Waiting {
  readonly cancellationSignal: AbortSignal;
  readonly stopWaitingOnCancel: boolean;
}

async function write(
  client: AgentContext,
  file: WriteTextFileRequest,
  options: Waiting,
): Promise<EditorToolResult> {
  const { path, content } = file;
  const oldText = await readOld(client, file, options);
  options.cancellationSignal.throwIfAborted();
  await client.request(methods.client.fs.writeTextFile, file, options);
  const edit =
    isShown(content) && (oldText === null || isShown(oldText))
      ? { path, oldText, newText: content }
      : undefined;
  return { text: `${path} is written.`, edit };
}

function isShown(text: string): boolean {
  return text.length <= MAX_DIFF.characters && text.split('\n').length <= MAX_DIFF.lines;
}

/** At most a line more than is shown. Null for a new file, and for an editor that lets none be read. */
async function readOld(
  client: AgentContext,
  { sessionId, path }: WriteTextFileRequest,
  options: Waiting,
): Promise<string | null> {
  try {
    const request: ReadTextFileRequest = { sessionId, path, line: 1, limit: MAX_DIFF.lines + 1 };
    const { content } = await client.request(methods.client.fs.readTextFile, request, options);
    return content;
  } catch {
    // The write says what is wrong, if something is.
    return null;
  }
}

/** Links are for the editor to judge, whose files they are. */
function isInside(folder: string, path: string): boolean {
  const way = relative(folder, resolve(path));
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function lineOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const end = `\n[cut: ${text.length} characters; read the rest with line and limit]`;
  return `${text.slice(0, MAX_TEXT - end.length)}${end}`;
}
