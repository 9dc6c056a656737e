/** What tools do with the files of a workspace, and whose files these are. */
import type { Readable } from 'node:stream';
import type { DocumentAccess } from '#domain/files/document.ts';
import type { FileOrigins } from '#domain/files/file-origins.ts';
import type { PathRules } from '#domain/files/path-rules.ts';
import type { FileLock } from '#store/files/file-lock.ts';
import type { ChangeJournal } from './change-journal.ts';
import type { FilePage, FilePageRequest } from './read-page.ts';

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
  /** Written files are programs, which commands may start. */
  readonly isProgram?: boolean;
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
  /**
   * Removes a file unless `check`, which receives its bytes, throws. Safe to repeat: a file that is not there counts as
   * removed.
   */
  remove(scope: FileScope, path: string, check: (old: Buffer) => void): Promise<void>;
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
