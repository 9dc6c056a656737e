/** What tools may do with files, held in the caller's workspace (VF-4). Problems are thrown as FileProblem. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { DocumentAccess } from '#domain/document.ts';
import type { FileOrigins } from '#domain/file-origins.ts';
import { type ChangeJournal, createChangeJournal } from './change-journal.ts';
import { errnoOf, FileProblem, fileProblem, shown } from './file-problem.ts';
import { createFolderGuides } from './folder-guides.ts';
import { guardGitFolder } from './guard-git.ts';
import { type Folder, openFolder, openParent } from './open-folder.ts';
import { type FilePage, type FilePageRequest, readPage } from './read-page.ts';
import { isTemporary, refuseIrregular, replaceFile } from './replace-file.ts';
import { DEFAULT_PATH_RULES, type PathRules } from '#domain/path-rules.ts';
import { isDenied, resolvePath, type SafePath } from './resolve-path.ts';
import { createResolvers } from './resolve-file.ts';

/** Whose files; a RunningCall is one. */
export interface FileScope {
  readonly workspace: string;
  readonly idempotencyKey: string;
  /** Of the call. */
  readonly sessionKey?: string;
  /** The folder that a new workspace begins as a copy of. */
  readonly workspaceFrom?: string | undefined;
  /** Whose documents stand in it (with-documents.ts); absent: it has none. */
  readonly documents?: DocumentAccess | undefined;
  /** Who is told of what is read and written; absent: nobody. */
  readonly origins?: FileOrigins | undefined;
  /** Another path of the workspace: where a box shows it. */
  readonly mount?: string;
  /** Ends the wait for a workspace that another worker has. */
  readonly signal?: AbortSignal;
  /** Of a workspace that follows the work: who notes what is changed, and the journal that goes with it. */
  readonly use?: Pick<WorkspaceUse, 'wrote' | 'journal'>;
}

/** One use of a workspace that follows the work (activities/snapshots/). What it says of changes is kept when it leaves, and not before. */
export interface WorkspaceUse {
  /** Where the workspace is on this machine, without links. */
  readonly path: string;
  /** A change at this path, absolute and without links; of anything, where it is the workspace itself. Others are passed over. */
  wrote(path: string): void;
  readonly journal: ChangeJournal;
  /** Once. Throws Failure `Unavailable` or FileProblem when what it has changed could not be kept. */
  leave(): Promise<void>;
}

export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Bytes; of files only. */
  readonly size: number;
}

/** A folder that programs run in or search: held open, so that it stays the one that was checked. */
export interface HeldFolder {
  /** To be given to spawn as `cwd`; valid until close. */
  readonly cwd: string;
  /** Its real path, for people and for PWD. */
  readonly path: string;
  /** From the workspace, '' for the workspace itself. */
  readonly inside: string;
  /** Denied prefixes below it, relative to it. */
  readonly denied: readonly string[];
  /**
   * The lines of the file `name` below it that begin at these bytes, each without its end and cut at `maxBytes`; undefined
   * when the file may not be read. What a program found by name is so shown from the file that was checked.
   */
  linesAt(name: string, offsets: readonly number[], maxBytes: number): Promise<readonly Buffer[] | undefined>;
  /** For after a command: puts documents' files back as they are kept; those that it had changed. */
  restore?(): Promise<readonly string[]>;
  /** Keeps a workspace that follows the work with this worker after `close`, until it is said to be over. */
  heldWhile?(isRunning: () => Promise<boolean>): void;
  close(): Promise<void>;
}

export interface Listing {
  readonly entries: readonly Entry[];
  readonly total: number;
  /** Of the folder; said once a session. */
  readonly guide?: string | undefined;
}

export interface Files {
  /** Lines of a text file. */
  readPage(scope: FileScope, path: string, request: FilePageRequest): Promise<FilePage>;
  /** The whole of a file; undefined when it has more bytes than `most`. */
  readBytes(scope: FileScope, path: string, most: number): Promise<Buffer | undefined>;
  /** Replaces or makes a file and its parent folders. Safe to repeat. */
  write(
    scope: FileScope,
    path: string,
    content: string | Buffer | AsyncIterable<Buffer>,
  ): Promise<{ created: boolean; bytes: number }>;
  /** All of a file, to be read once. Who does not read it to its end destroys it. */
  openRead(scope: FileScope, path: string): Promise<{ readonly bytes: number; readonly stream: Readable }>;
  /**
   * Changes a file by a function of its bytes (null when there is none and `mayCreate`). Safe to repeat under the same
   * idempotency key: `done` says that an earlier attempt did it.
   */
  change(
    scope: FileScope,
    path: string,
    mayCreate: boolean,
    by: (old: Buffer | null) => Buffer,
  ): Promise<{ done: boolean }>;
  /** Immediate children by name; at most `limit`, `total` says how many there are. */
  list(scope: FileScope, path: string, limit: number): Promise<Listing>;
  /** `run`: for commands, which may write there. */
  hold(scope: FileScope, path: string, use: 'search' | 'run'): Promise<HeldFolder>;
  /** Whether the path names a folder; FileNotFound when it names nothing. */
  isFolder(scope: FileScope, path: string): Promise<boolean>;
  /**
   * Where workspaces follow the work: has this one, as it is now, stay with this worker until what it gives is called.
   * @throws FileProblem `Timeout` when another worker has it for longer than `patienceMs`
   */
  keep?(scope: FileScope, patienceMs?: number): Promise<() => Promise<void>>;
}

export interface FilesOptions {
  readonly rules?: Partial<PathRules>;
  /** A private folder for the journal of changes. */
  readonly journalDir: string;
  readonly now: () => number;
}

/** Files that are changed in memory may have this many bytes. */
export const MAX_CHANGE_BYTES = 20 * 1024 * 1024;
/** Names read from one folder; beyond it the listing says so. */
const MAX_NAMES = 100_000;

export function createFiles(options: FilesOptions): Files {
  const rules: PathRules = { ...DEFAULT_PATH_RULES, ...options.rules };
  const journal = createChangeJournal(options.journalDir, options.now);
  const guides = createFolderGuides();

  const { resolve, resolveChange } = createResolvers(rules);

  return {
    async readPage(scope, path, request) {
      return explained('failed to read file', path, async () => {
        const safe = await resolve(scope, path);
        const file = await openFile(safe);
        return closing(file, async () => ({
          ...(await readPage(file, request, path)),
          guide: await guides.of(scope, safe.root, safe.inside),
        }));
      });
    },

    async readBytes(scope, path, most) {
      return explained('failed to read file', path, async () => {
        const file = await openFile(await resolve(scope, path));
        return closing(file, async () => {
          const room = Buffer.alloc(Math.min((await file.stat()).size, most) + 1);
          const { bytesRead } = await file.read(room, 0, room.length, 0);
          return bytesRead > most ? undefined : room.subarray(0, bytesRead);
        });
      });
    },

    async write(scope, path, content) {
      return explained('failed to write file', path, async () => {
        const { folder, name } = await openParent(await resolveChange(scope, path, true), true);
        return closing(folder, async () => {
          const given = typeof content === 'string' ? Buffer.from(content) : content;
          const { created } = await replaceFile(folder, name, given, scope.idempotencyKey, path);
          return { created, bytes: (await lstat(folder.at(name))).size };
        });
      });
    },

    async openRead(scope, path) {
      return explained('failed to read file', path, async () => {
        const file = await openFile(await resolve(scope, path));
        return { bytes: (await file.stat()).size, stream: file.createReadStream() };
      });
    },

    async change(scope, path, mayCreate, by) {
      const doing = mayCreate ? 'failed to write file' : 'failed to read file';
      return explained(doing, path, async () => {
        const { folder, name } = await openParent(await resolveChange(scope, path, false), mayCreate);
        return closing(folder, async () => {
          const old = await readWhole(folder, name, mayCreate, path);
          const changes = scope.use?.journal ?? journal;
          const state = await changes.judge(scope.idempotencyKey, old);
          if (state === 'done') return { done: true };
          if (state === 'lost')
            throw new FileProblem(
              'OutcomeUnknown',
              `${shown(path)} was being changed by this call when the worker stopped, and is different now; read it before changing it again`,
            );
          const next = by(old);
          await changes.note(scope.idempotencyKey, old, next);
          await replaceFile(folder, name, next, scope.idempotencyKey, path);
          return { done: false };
        });
      });
    },

    async list(scope, path, limit) {
      return explained('failed to list', path, async () => {
        const safe = await resolve(scope, path);
        const folder = await openFolder(safe.absolute, path);
        return closing(folder, async () => {
          const names = await namesIn(folder, safe, rules);
          const entries = await Promise.all(names.slice(0, limit).map((name) => entryOf(folder, name)));
          const guide = await guides.of(scope, safe.root, `${safe.inside || '.'}/.`);
          return { entries: entries.filter((entry) => entry !== undefined), total: names.length, guide };
        });
      });
    },

    async hold(scope, path, use) {
      return explained('failed to open folder', path, async () => {
        const safe = await resolve(scope, path);
        if (use === 'run') {
          guardGitFolder(safe);
          await scope.origins?.runs();
        }
        const folder = await openFolder(safe.absolute, path);
        return held(folder, safe, rules);
      });
    },

    async isFolder(scope, path) {
      return explained('failed to open', path, async () => {
        const safe = await resolve(scope, path);
        return (await stat(safe.absolute)).isDirectory();
      });
    },
  };
}

async function explained<T>(doing: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileProblem(error, doing, path);
  }
}

async function closing<T>(opened: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await opened.close();
  }
}

/** A regular file with one name. O_NONBLOCK: opening a FIFO must not wait for a writer. */
export async function openFile(path: SafePath): Promise<FileHandle> {
  if (path.inside === '')
    throw new FileProblem('InvalidPath', `${shown(path.askedPath)} is a folder, not a file`);
  const { folder, name } = await openParent(path, false);
  return closing(folder, () => openIn(folder, name, path.askedPath));
}

async function openIn(folder: Folder, name: string, askedPath: string): Promise<FileHandle> {
  const file = await open(
    folder.at(name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY,
  );
  try {
    refuseIrregular(await file.stat(), 'failed to read file', askedPath);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readWhole(
  folder: Folder,
  name: string,
  mayBeMissing: boolean,
  askedPath: string,
): Promise<Buffer | null> {
  let file: FileHandle;
  try {
    file = await openIn(folder, name, askedPath);
  } catch (error) {
    if (mayBeMissing && errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = await file.stat();
    if (size > MAX_CHANGE_BYTES)
      throw new FileProblem(
        'ExecutionFailed',
        `${shown(askedPath)} has ${size} bytes; files over ${MAX_CHANGE_BYTES} bytes are changed with exec`,
      );
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function namesIn(folder: Folder, safe: SafePath, rules: PathRules): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder.at(''))) {
    const inside = safe.inside === '' ? name : `${safe.inside}/${name}`;
    if (isTemporary(name) || isDenied(rules.deniedPrefixes, inside)) continue;
    names.push(name);
    if (names.length >= MAX_NAMES) break;
  }
  return names.sort((a, b) => (a < b ? -1 : 1));
}

async function entryOf(folder: Folder, name: string): Promise<Entry | undefined> {
  try {
    const stat = await lstat(folder.at(name));
    if (stat.isDirectory()) return { name, kind: 'folder', size: 0 };
    if (stat.isSymbolicLink()) return { name, kind: 'link', size: 0 };
    return { name, kind: stat.isFile() ? 'file' : 'other', size: stat.size };
  } catch (error) {
    // Removed between reading the folder and looking at it.
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function held(folder: Folder, safe: SafePath, rules: PathRules): HeldFolder {
  const below = safe.inside === '' ? '' : `${safe.inside.toLowerCase()}/`;
  return {
    cwd: folder.at(''),
    path: safe.absolute,
    inside: safe.inside,
    denied: rules.deniedPrefixes
      .map((prefix) => prefix.replace(/^(\.?\/)+|\/+$/g, ''))
      .filter((prefix) => prefix.toLowerCase().startsWith(below) && prefix.length > below.length)
      .map((prefix) => prefix.slice(below.length)),
    linesAt: (name, offsets, maxBytes) => linesAt(rules, safe, name, offsets, maxBytes),
    close: () => folder.close(),
  };
}

async function linesAt(
  rules: PathRules,
  top: SafePath,
  name: string,
  offsets: readonly number[],
  maxBytes: number,
): Promise<readonly Buffer[] | undefined> {
  try {
    const file = await openFile(await resolvePath(rules, top.root, join(top.absolute, name), 'read'));
    return await closing(file, async () => {
      const lines: Buffer[] = [];
      for (const offset of offsets) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, offset);
        const bytes = buffer.subarray(0, bytesRead);
        const end = bytes.indexOf(10);
        lines.push(end < 0 ? bytes : bytes.subarray(0, end));
      }
      return lines;
    });
  } catch (error) {
    // Refused, or gone meanwhile: not to be shown.
    if (error instanceof FileProblem || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}
