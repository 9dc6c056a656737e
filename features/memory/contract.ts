/** VF-2: the index of an agent's memory, and how it is updated to what the documents say. */
import { DOCUMENT_LIMITS, documentKind, type DocumentScope } from '#domain/files/document.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { memoryStatusSchema } from './resource.ts';

/** What `memory_read` reads and `memory_write` writes without a path. */
export const MEMORY_FILE = 'MEMORY.md';

/** The tool that puts back a document when a call that wrote it is undone. Only an undo calls it. */
export const RESTORE_MEMORY = 'restore_memory';

/** The first one that exists is in the prompt. */
export const MEMORY_FILES: readonly string[] = [MEMORY_FILE, 'memory.md'];

/**
 * Normalizes the path as rows have it: `./memory/x.md` is `memory/x.md`. Returns undefined if no document of memory can
 * have this path.
 */
export function memoryPath(value: string): string | undefined {
  const path = value.replace(/^(?:\.?\/)+/, '');
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/\p{C}/u.test(part));
  if (!isPlain || path.length > DOCUMENT_LIMITS.path) return undefined;
  return documentKind(path) === 'memory' ? path : undefined;
}

export const INDEX_DOCUMENT = {
  type: 'indexDocument',
  signals: { written: 'written' },
} as const;

export interface IndexedPart {
  /** Documents whose current text is not yet in the index. */
  readonly pending: number;
  /** True if the rest waits for the model that makes vectors or extracts facts; the words are already indexed. */
  readonly waits: boolean;
}

export interface IndexedDocuments extends IndexedPart {
  /** Documents that other features must still read; absent if there is none. */
  readonly unread?: number;
  /** Conversations whose statements must still be stored; absent if there is none. */
  readonly unrecorded?: number;
}

export interface MemoryActivities {
  /** Indexes some documents, words before vectors. Safe to repeat, also concurrently. */
  index_documents(scope: DocumentScope): Promise<IndexedDocuments>;
  /** Lets other features read some documents whose words are indexed. Safe to repeat, also concurrently. */
  read_documents(scope: DocumentScope): Promise<IndexedPart>;
  /**
   * Stores what was said in some conversations of the scope as documents. Each reading counts once. Safe to repeat,
   * also concurrently.
   */
  record_conversations(scope: DocumentScope): Promise<IndexedPart>;
}

/** The status as callers see it (`GET …/memory/status`). */
export type MemoryStatus = Kept<typeof memoryStatusSchema>;
