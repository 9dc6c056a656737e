import type { UsedTools } from '../policy/used-tools.ts';

/**
 * PO-5: records whether what a call reads, and what it writes, was written after the session read something from
 * outside.
 */
export interface FileOrigins {
  /**
   * Called before a file or folder of the workspace is read, with its path from the workspace. Empty: any of it may be
   * read.
   */
  read(path: string): Promise<void>;
  readDocument(read: UsedTools): void;
  /** Called before documents at or below a path of the workspace are read; empty means all of them. */
  readDocuments(path: string): Promise<void>;
  /** Called when text of these sessions is read. */
  readSessions(sessions: readonly string[]): Promise<void>;
  /** Called before the call's own command starts, when it reads the network. */
  readsNetwork(): void;
  /** What was read from outside before the call, and by the call until now. */
  known(): UsedTools;
  /** Called before a file is written; `isWhole` means that none of its old content stays. */
  changed(path: string, isWhole: boolean): Promise<void>;
  /** Called before a command starts, which may read and write the whole workspace. */
  runs(): Promise<void>;
  /** Called when the command continues after the call has ended. */
  continues(): void;
}

/** For reads and writes that nothing records. */
export const NO_ORIGINS: FileOrigins = {
  read: () => Promise.resolve(),
  readDocument: () => undefined,
  readDocuments: () => Promise.resolve(),
  readSessions: () => Promise.resolve(),
  readsNetwork: () => undefined,
  known: () => ({}),
  changed: () => Promise.resolve(),
  runs: () => Promise.resolve(),
  continues: () => undefined,
};
