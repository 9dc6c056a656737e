/**
 * Documents as read-only files of the workspace, for commands and searches. Truth is the row: a copy is made anew where it is another. What
 * was made is listed in the workspace before it is made, so that whoever comes after a killed worker can tell a copy from a file of the
 * user's, which stays as it is.
 */
import { createHash } from 'node:crypto';
import { lstat, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DOCUMENT_LIMITS, type DocumentAccess, isDocumentPath } from '#domain/document.ts';
import { type DocumentRow, listDocuments, readDocument } from '#store/document-store.ts';
import type { Pool } from '#store/pool.ts';
import { errnoOf, FileProblem } from './file-problem.ts';
import { openFile } from './open-file.ts';
import { openParent } from './open-folder.ts';
import { replaceFile } from './replace-file.ts';
import type { SafePath } from './resolve-path.ts';

export interface DocumentCopies {
  /** Makes them as the rows are, where that is not so. Those that had been made and were changed by somebody else. */
  refresh(workspace: string, access: DocumentAccess): Promise<readonly string[]>;
  /** From path to digest, of all that were made in it. */
  listed(workspace: string): Promise<Listed>;
}

type Listed = Readonly<Record<string, string>>;

const LIST = '.tempoclaw/documents.json';
const READ_ONLY = 0o444;
/** Of paths and digests. */
const LIST_BYTES = DOCUMENT_LIMITS.count * 2 * (DOCUMENT_LIMITS.path * 2 + 80);
/** Workspaces that a worker remembers. */
const REMEMBERED = 1_000;

const listSchema = z.record(z.string(), z.string());

interface Made {
  /** Whose, and which. */
  readonly version: string;
  readonly files: ReadonlyMap<string, { readonly digest: string; readonly mark: string }>;
}

export function createDocumentCopies(pool: Pool): DocumentCopies {
  const known = new Map<string, Made>();
  const running = new Map<string, Promise<unknown>>();

  /** One after the other in a workspace. */
  async function inTurn<Result>(home: string, work: () => Promise<Result>): Promise<Result> {
    const before = running.get(home) ?? Promise.resolve();
    const mine = before.then(work, work);
    running.set(home, mine);
    try {
      return await mine;
    } finally {
      if (running.get(home) === mine) running.delete(home);
    }
  }

  async function refresh(home: string, access: DocumentAccess): Promise<readonly string[]> {
    const scope = access.shows === 'agent' ? { ...access, user: null } : access;
    const version = JSON.stringify([scope.agent, scope.user, scope.type, access.version]);
    const made = known.get(home);
    if (made?.version === version && (await isUntouched(home, made))) return [];
    const rows = (await listDocuments(pool, scope)).filter(({ path }) => isDocumentPath(path));
    const { toWrite, gone, list } = await plan(home, rows, made);
    for (const row of toWrite) {
      const document = await readDocument(pool, scope, row.path);
      if (document) await writeCopy(home, row.path, document.text);
    }
    for (const path of gone) await removeCopy(home, path);
    const files = new Map<string, { digest: string; mark: string }>();
    for (const { path, digest } of rows)
      if (path in list) files.set(path, { digest, mark: await markOf(home, path) });
    known.delete(home);
    known.set(home, { version, files });
    const [oldest] = known.keys();
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
    return toWrite.flatMap(({ path, digest }) => (made?.files.get(path)?.digest === digest ? [path] : []));
  }

  return {
    async refresh(workspace, access) {
      if (access.version === null || access.shows === 'none') return [];
      const home = await realpath(workspace);
      return inTurn(home, () => refresh(home, access));
    },
    listed: async (workspace) => readList(await realpath(workspace)),
  };
}

/** Lists what will have been made before anything is. */
async function plan(
  home: string,
  rows: readonly DocumentRow[],
  made: Made | undefined,
): Promise<{ toWrite: readonly DocumentRow[]; gone: readonly string[]; list: Listed }> {
  const before = await readList(home);
  const expected: DocumentRow[] = [];
  const gone: string[] = [];
  const list: Record<string, string> = {};
  for (const row of rows) {
    const { path, digest } = row;
    const last = made?.files.get(path);
    const isSame = last?.digest === digest && last.mark === (await markOf(home, path));
    const there = isSame ? digest : await digestOf(home, path);
    // A file of the user's that has a document's name.
    if (there !== undefined && there !== digest && !(path in before)) continue;
    list[path] = digest;
    if (there !== digest) expected.push(row);
  }
  for (const [path, digest] of Object.entries(before)) {
    if (path in list || (await digestOf(home, path)) !== digest) continue;
    list[path] = digest;
    gone.push(path);
  }
  if (JSON.stringify(list) !== JSON.stringify(before)) await writeAt(home, LIST, JSON.stringify(list));
  return { toWrite: expected, gone, list };
}

function placeOf(home: string, path: string): SafePath {
  return { absolute: join(home, path), root: home, inside: path, requestedPath: path };
}

async function isUntouched(home: string, { files }: Made): Promise<boolean> {
  const marks = await Promise.all(
    Array.from(files, async ([path, { mark }]) => mark === (await markOf(home, path))),
  );
  return marks.every(Boolean);
}

/** Changes with whatever is done to the file. */
async function markOf(home: string, path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(join(home, path), { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    if (isOther(error)) return '';
    throw error;
  }
}

/** Undefined: there is nothing. Empty: no file that could be a copy. */
async function digestOf(home: string, path: string): Promise<string | undefined> {
  try {
    const bytes = await readSmall(home, path, DOCUMENT_LIMITS.bytes);
    return bytes === undefined ? '' : createHash('sha256').update(bytes).digest('hex');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    if (isOther(error)) return '';
    throw error;
  }
}

async function readSmall(home: string, path: string, max: number): Promise<Buffer | undefined> {
  const file = await openFile(placeOf(home, path));
  try {
    return (await file.stat()).size > max ? undefined : await file.readFile();
  } finally {
    await file.close();
  }
}

/** What a command has made of the list is as if there were none. */
async function readList(home: string): Promise<Listed> {
  try {
    const text = await readSmall(home, LIST, LIST_BYTES);
    return listSchema.parse(JSON.parse(String(text)));
  } catch (error) {
    if (isOther(error) || error instanceof SyntaxError || error instanceof z.ZodError) return {};
    throw error;
  }
}

/** Something else stands there or on the way, which is not ours to touch. */
function isOther(error: unknown): boolean {
  const errno = errnoOf(error) ?? '';
  return error instanceof FileProblem || ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'EEXIST'].includes(errno);
}

async function writeAt(home: string, path: string, text: string, mode = 0o600): Promise<void> {
  const { folder, name } = await openParent(placeOf(home, path), true);
  try {
    await replaceFile(folder, name, Buffer.from(text), path, path, { mode });
  } finally {
    await folder.close();
  }
}

async function writeCopy(home: string, path: string, text: string): Promise<void> {
  const write = (): Promise<void> => writeAt(home, path, text, READ_ONLY);
  await write().catch(async (error: unknown) => {
    if (!isOther(error)) throw error;
    // A link, or another name of it. What cannot be removed stays: the row counts all the same.
    await removeCopy(home, path);
    await write().catch((again: unknown) => {
      if (!isOther(again)) throw again;
    });
  });
}

async function removeCopy(home: string, path: string): Promise<void> {
  try {
    const { folder, name } = await openParent(placeOf(home, path), false);
    try {
      await unlink(folder.at(name));
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (!isOther(error) && errnoOf(error) !== 'EPERM') throw error;
  }
}
