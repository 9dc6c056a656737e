/** The point at which other features read what memory's index has: they are asked whenever a document changes. */
import type { RawBuilder } from 'kysely';
import type { DocumentScope } from '#domain/document.ts';
import type { Db, Transaction } from '#store/database.ts';
import type { IndexedPart } from './contract.ts';
import type { Chunk } from './rules/chunk-text.ts';

export interface MemoryReader {
  /** A condition on rows `d` of documents: there is something to read in it. */
  readonly isUnread: RawBuilder<unknown>;
  /** Documents of the owner's own that are to be read. */
  unread(db: Db, scope: DocumentScope): Promise<number>;
  /** Within the commit by which the index has the pieces of a document as it is now. */
  indexed(tx: Transaction, scope: DocumentScope, path: string, pieces: readonly Chunk[]): Promise<void>;
  /** Reads some, within an activity. Safe to repeat, and beside itself. */
  read(scope: DocumentScope): Promise<IndexedPart>;
}

declare module '#domain/feature.ts' {
  interface FeaturePoints {
    readonly memoryReader: MemoryReader;
  }
}
