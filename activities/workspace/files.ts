/** File operations of tools, confined to the caller's workspace (VF-4). Problems are thrown as FileProblem. */
import { lstat, opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { DocumentAccess } from '#domain/files/document.ts';
import type { FileOrigins } from '#domain/files/file-origins.ts';
import type { FileLock } from '#store/files/file-lock.ts';
import type { ChangeJournal } from './change-journal.ts';
import { createFileChanges } from './change-file.ts';
import { errnoOf, FileProblem } from './file-problem.ts';
import { createFolderGuides } from './folder-guides.ts';
import { guardGitFolder } from './guard-git.ts';
import { closing, explained, openFile, versionOf } from './open-file.ts';
import { type Folder, openFolder } from './open-folder.ts';
import { type FilePage, type FilePageRequest, readPage } from './read-page.ts';
import { isTemporary } from './replace-file.ts';
import { DEFAULT_PATH_RULES, type PathRules } from '#domain/files/path-rules.ts';
import { isDenied, resolvePath, type SafePath } from './resolve-path.ts';
import { createResolvers } from './resolve-file.ts';

/** The owner of files; a RunningCall is one. */
export interface FileScope {
  readonly workspace: string;
  readonly idempotencyKey: string;
  /** Session of the call. */
  readonly sessionKey?: string;
  /** The folder that a new workspace is copied from. */
  readonly workspaceFrom?: string | undefined;
  /** Documents that appear in it (with-documents.ts); absent when it has none. */
  readonly documents?: DocumentAccess | undefined;
  /** Records reads and writes; absent when nothing does. */
  readonly origins?: FileOrigins | undefined;
  /** The path of the workspace in a sandbox, when it differs. */
  readonly mount?: string;
  /** Aborts the wait for a workspace that another worker has. */
  readonly signal?: AbortSignal;
  /** For a workspace that follows the work: records changes, and the journal that follows too. */
  readonly use?: Pick<WorkspaceUse, 'wrote' | 'journal'>;
}

/**
 * One use of a workspace that follows the work (activities/snapshots/). Its changes are stored when it leaves, and not
 * before.
 */
export interface WorkspaceUse {
  /** Path of the workspace on this machine, without links. */
  readonly path: string;
  /**
   * Records a change at this path, absolute and without links; of anything, when it is the workspace itself. Paths
   * elsewhere are ignored.
   */
  wrote(path: string): void;
  readonly journal: ChangeJournal;
  /** Called once. Throws Failure `Unavailable` or FileProblem when the changes could not be stored. */
  leave(): Promise<void>;
}

export interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  /** Bytes; only of files. */
  readonly size: number;
}

/** A folder that programs run in or search. It is held open, so that it stays the one that was checked. */
export interface HeldFolder {
  /** The `cwd` for spawn; valid until close. */
  readonly cwd: string;
  /** Its real path, for people and for PWD. */
  readonly path: string;
  /** Relative to the workspace; '' for the workspace itself. */
  readonly inside: string;
  /** Denied prefixes below it, relative to it. */
  readonly denied: readonly string[];
  /**
   * The lines of the file `name` below it that start at these bytes, each without its end and cut at `maxBytes`;
   * undefined when the file may not be read. So a match that a program found by name is shown from the file that was
   * checked.
   */
  linesAt(name: string, offsets: readonly number[], maxBytes: number): Promise<readonly Buffer[] | undefined>;
  /** Called after a command: restores documents' files; returns those that the command had changed. */
  restore?(): Promise<readonly string[]>;
  /**
   * Keeps a workspace that follows the work with this worker after `close`, until the function says that it is over.
   */
  heldWhile?(isRunning: () => Promise<boolean>): void;
  close(): Promise<void>;
}

export interface Listing {
  readonly entries: readonly Entry[];
  readonly total: number;
  /** The folder's guide; returned once per session. */
  readonly guide?: string | undefined;
}

export interface Files {
  /** Lines of a text file. */
  readPage(scope: FileScope, path: string, request: FilePageRequest): Promise<FilePage>;
  /** The whole of a file; undefined when it has more than `max` bytes. */
  readBytes(scope: FileScope, path: string, max: number): Promise<Buffer | undefined>;
  /**
   * Replaces or creates a file and its parent folders. Safe to repeat. `check` receives the version of the existing
   * file (undefined when there is none), and throws to prevent the write.
   */
  write(
    scope: FileScope,
    path: string,
    content: string | Buffer | AsyncIterable<Buffer>,
    check?: (version: string | undefined) => void,
  ): Promise<{ created: boolean; bytes: number; version: string }>;
  /**
   * The whole file, to be read once. A caller that does not read it to its end must destroy it. The version differs
   * after each change.
   */
  openRead(
    scope: FileScope,
    path: string,
  ): Promise<{ readonly bytes: number; readonly version: string; readonly stream: Readable }>;
  /**
   * Changes a file by a function of its bytes (null when it does not exist and `mayCreate`). Safe to repeat under the
   * same idempotency key: `done` says that an earlier attempt did it.
   */
  change(
    scope: FileScope,
    path: string,
    mayCreate: boolean,
    by: (old: Buffer | null) => Buffer,
  ): Promise<{ done: boolean }>;
  /** Immediate children by name; at most `limit`, and `total` is their number. */
  list(scope: FileScope, path: string, limit: number): Promise<Listing>;
  /** `run` is for commands, which may write there. */
  hold(scope: FileScope, path: string, use: 'search' | 'run'): Promise<HeldFolder>;
  /** Whether the path names a folder; FileNotFound when it does not exist. */
  isFolder(scope: FileScope, path: string): Promise<boolean>;
  /**
   * For workspaces that follow the work: keeps this one with this worker until the returned function is called. @throws
   * FileProblem `Timeout` when another worker has it for longer than `patienceMs`
   */
  keep?(scope: FileScope, patienceMs?: number): Promise<() => Promise<void>>;
}

export interface FilesOptions {
  readonly rules?: Partial<PathRules>;
  /** A private folder for the journal of changes. */
  readonly journalDir: string;
  readonly now: () => number;
  readonly lock: FileLock;
}

/** Greatest number of names read from one folder; the listing reports more. */
const MAX_NAMES = 100_000;

export function createFiles(options: FilesOptions): Files {
  const rules: PathRules = { ...DEFAULT_PATH_RULES, ...options.rules };
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

    async readBytes(scope, path, max) {
      return explained('failed to read file', path, async () => {
        const file = await openFile(await resolve(scope, path));
        return closing(file, async () => {
          const buffer = Buffer.alloc(Math.min((await file.stat()).size, max) + 1);
          const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
          return bytesRead > max ? undefined : buffer.subarray(0, bytesRead);
        });
      });
    },

    ...createFileChanges({ ...options, resolveChange }),

    async openRead(scope, path) {
      return explained('failed to read file', path, async () => {
        const file = await openFile(await resolve(scope, path));
        const there = await file.stat({ bigint: true });
        return { bytes: Number(there.size), version: versionOf(there), stream: file.createReadStream() };
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
    // It was removed after the folder was read.
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
    // It is refused, or was removed meanwhile: it is not shown.
    if (error instanceof FileProblem || errnoOf(error) !== undefined) return undefined;
    throw error;
  }
}
