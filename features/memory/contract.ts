/** VF-2, TL memory: the index of an agent's memory, and how it is brought up to what the documents say. */
import { DOCUMENT_LIMITS, documentKind, type DocumentScope } from '#domain/document.ts';

/** What `memory_read` reads and `memory_write` writes unless a path is given. */
export const MEMORY_FILE = 'MEMORY.md';

/** The first that there is stands in the prompt. */
export const MEMORY_FILES: readonly string[] = [MEMORY_FILE, 'memory.md'];

/** As rows have it: `./memory/x.md` is `memory/x.md`. Undefined: no document of memory can have this path. */
export function memoryPath(value: string): string | undefined {
  const path = value.replace(/^(?:\.?\/)+/, '');
  const parts = path.split('/');
  const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/\p{C}/u.test(part));
  if (!isPlain || path.length > DOCUMENT_LIMITS.path || !path.endsWith('.md')) return undefined;
  return documentKind(path) === 'memory' ? path : undefined;
}

export const INDEX_DOCUMENT = {
  type: 'indexDocument',
  signals: { written: 'written' },
} as const;

/** One for a scope: all of its documents, one after the other. */
export function indexWorkflowId({ tenant, agent, user }: DocumentScope): string {
  return `index/${tenant}/${agent}/${user ?? ''}`;
}

/** Whether it is the id of one for the user, whatever the agent, whose key has no slash. */
export function isIndexOf(workflowId: string, tenant: string, user: string): boolean {
  const [agent = ''] = workflowId.slice(`index/${tenant}/`.length).split('/', 1);
  return workflowId === indexWorkflowId({ tenant, agent, user });
}

export interface IndexedPart {
  /** Documents that are not yet in the index as they are. */
  readonly pending: number;
  /** What is left waits for the model that makes vectors, or draws facts; words are found already. */
  readonly waits: boolean;
}

export interface IndexedDocuments extends IndexedPart {
  /** Documents that other features have still to read; absent where there is none. */
  readonly unread?: number;
  /** Conversations whose statements are to be kept; absent where there is none. */
  readonly unrecorded?: number;
}

export interface MemoryActivities {
  /** Indexes some documents, words before vectors. Safe to repeat, and beside itself. */
  index_documents(scope: DocumentScope): Promise<IndexedDocuments>;
  /** Has other features read some documents whose words are indexed. Safe to repeat, and beside itself. */
  read_documents(scope: DocumentScope): Promise<IndexedPart>;
  /** Keeps what was said in some conversations of the scope as documents. Each reading counts once. Safe to repeat, and beside itself. */
  record_conversations(scope: DocumentScope): Promise<IndexedPart>;
}

/** As callers see it (`GET …/memory/status`). */
export interface MemoryStatus {
  /** Of memory, those that the user sees. */
  readonly documents: number;
  readonly chunks: number;
  /** Documents that the index does not hold as they are; 0: all is found. */
  readonly pending: number;
  /** `provider/model`; null: search goes by words alone. */
  readonly embedder: string | null;
}
