import type { UsedTools } from './policy/used-tools.ts';

/** PO-5: whether what a call reads was written after something from outside was read, and the same of what it writes. */
export interface FileOrigins {
  /** A file or folder of the workspace, from there; before it is read. Empty: any of it may be. */
  read(path: string): Promise<void>;
  readDocument(read: UsedTools): void;
  /** The documents at or below a path of the workspace; empty: all of them. */
  readDocuments(path: string): Promise<void>;
  /** Words that were said or written in these sessions. */
  readSessions(sessions: readonly string[]): Promise<void>;
  /** The call's own command reads the network; before it begins. */
  readsNetwork(): void;
  /** What was read from outside before the call, and by it until now. */
  known(): UsedTools;
  /** A file, before it is written; `isWhole`: nothing of what it had stays. */
  changed(path: string, isWhole: boolean): Promise<void>;
  /** A command, which may read and write all of it; before it begins. */
  runs(): Promise<void>;
  /** The command goes on after the call has ended. */
  goesOn(): void;
}
