/**
 * Documents as read-only files of the workspace, for commands and searches. The row is authoritative: a differing copy
 * is written again. The list of copies is written into the workspace before the copies. So after a worker was killed, a
 * copy can be distinguished from a user's file, which stays unchanged.
 */
import { createHash } from 'node:crypto';
import { lstat, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { DOCUMENT_LIMITS, type DocumentAccess, isDocumentPath } from '#domain/files/document.ts';
import { type DocumentRow, listDocuments, readDocument } from '#store/files/document-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { errnoOf, FileProblem } from '../file-problem.ts';
import { openFile } from '../open-file.ts';
import { openParent } from '../open-folder.ts';
import { replaceFile } from '../replace-file.ts';
import type { SafePath } from '../resolve-path.ts';

export interface DocumentCopies {
  /** Writes the copies that differ from the rows. Returns those that somebody else had changed. */
  refresh(workspace: string, access: DocumentAccess): Promise<readonly string[]>;
  /** Paths and digests of all copies in it. */
  listed(workspace: string): Promise<Listed>;
}

type Listed = Readonly<Record<string, string>>;

const LIST = '.tempoclaw/documents.json';
const READ_ONLY = 0o444;
/** Bytes of the list of paths and digests. */
const LIST_BYTES = DOCUMENT_LIMITS.count * 2 * (DOCUMENT_LIMITS.path * 2 + 80);
/** Number of workspaces that a worker keeps in memory. */
const REMEMBERED = 1_000;

const listSchema = z.record(z.string(), z.string());

interface Made {
  /** The owner and the version of the documents. */
  readonly version: string;
  readonly files: ReadonlyMap<string, { readonly digest: string; readonly mark: string }>;
}

export function createDocumentCopies(pool: Pool): DocumentCopies {
  const known = new Map<string, Made>();
  const oneInEachWorkspace = createConcurrencyLimit(1);

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
      return oneInEachWorkspace.pass(home, () => refresh(home, access));
    },
    listed: async (workspace) => readList(await realpath(workspace)),
  };
}

/** Lists the copies that will be written, before any is. */
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
    // A user's file that has a document's name.
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

/** It changes with every change of the file. */
async function markOf(home: string, path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(join(home, path), { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    if (isOther(error)) return '';
    throw error;
  }
}

/** Undefined when there is nothing. Empty for a file that cannot be a copy. */
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

/** A list that a command has changed counts as none. */
async function readList(home: string): Promise<Listed> {
  try {
    const text = await readSmall(home, LIST, LIST_BYTES);
    return listSchema.parse(JSON.parse(String(text)));
  } catch (error) {
    if (isOther(error) || error instanceof SyntaxError || error instanceof z.ZodError) return {};
    throw error;
  }
}

/** Something else is there or on the path, which is left alone. */
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
    // A link, or another name of it. A file that cannot be removed stays: the row is authoritative.
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
