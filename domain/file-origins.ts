import type { UsedTools } from './policy/used-tools.ts';

/** PO-5: whether what is read was written after something from outside was read, and the same of what is written. */
export interface FileOrigins {
  /** A file or folder of the workspace, from there; before it is read. */
  read(path: string): Promise<void>;
  readDocument(read: UsedTools): void;
  /** A file, before it is written; `isWhole`: nothing of what it had stays. */
  changed(path: string, isWhole: boolean): Promise<void>;
  /** A command, which may read and write all of it; before it begins. */
  runs(): Promise<void>;
}
