/**
 * The interface through which other features read what memory's index has. They are called whenever a document changes.
 */
import type { RawBuilder } from 'kysely';
import type { DocumentScope } from '#domain/files/document.ts';
import type { Db, Transaction } from '#store/postgres/database.ts';
import type { IndexedPart } from './contract.ts';
import type { Chunk } from './rules/chunk-text.ts';

export interface MemoryReader {
  /** A condition on rows `d` of documents: there is something to read in it. */
  readonly isUnread: RawBuilder<unknown>;
  /** Counts the owner's own documents that must be read. */
  unread(db: Db, scope: DocumentScope): Promise<number>;
  /** Called within the commit that puts the current pieces of a document into the index. */
  indexed(tx: Transaction, scope: DocumentScope, path: string, pieces: readonly Chunk[]): Promise<void>;
  /** Reads some, within an activity. Safe to repeat, also concurrently. */
  read(scope: DocumentScope): Promise<IndexedPart>;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly memoryReader: MemoryReader;
  }
}
