/**
 * The activities of memory: its index, the graph extracted from it, and what tools find, read and write of it (VF-2).
 */
import { anyOf } from '#store/row-parts.ts';
import type { DocumentScope } from '#domain/files/document.ts';
import type { SummarizedSession } from '#domain/feature.ts';
import { Failure } from '#domain/errors.ts';
import type { UsedTools } from '#domain/policy/used-tools.ts';
import { MEMORY_FILE, type MemoryActivities } from '../contract.ts';
import type { WorkflowReach } from '#domain/workflow-reach.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import {
  type DocumentText,
  readDocument,
  readDocumentVersion,
  readVersionOfCall,
  writeDocument,
} from '#store/files/document-store.ts';
import { scopesToRecord } from '../store/conversation-store.ts';
import { scopesToIndex } from '../store/memory-index-store.ts';
import { startIndexing } from '../temporal.ts';
import { createIndexDocuments, createReadDocuments, type IndexDeps } from './index-memory.ts';
import { createRecordConversations, type RecordConversationsDeps } from './record-conversations.ts';
import { createSearchMemory, type SearchMemory } from './search-memory.ts';

/**
 * Everything is within the caller's tenant and agent: its user's memory, and the agent's where the user has none of the
 * same path.
 */
export interface Memory {
  readonly search: SearchMemory;
  read(caller: RunningCall, path: string): Promise<DocumentText | undefined>;
  /** MEMORY.md, or else memory.md. */
  readMain(caller: RunningCall): Promise<DocumentText | undefined>;
  /** Returns the revision. Writes once for a call. Throws InvalidInput beyond DOCUMENT_LIMITS. */
  write(
    caller: RunningCall,
    path: string,
    content: string,
    mode: 'append' | 'overwrite',
  ): Promise<{ readonly revision: number }>;
  /**
   * Puts back what the document had before the call `of` wrote it, and returns it: null removes the document, undefined
   * means that the call has not written it. Once for a caller. Throws Conflict when the document has changed since, or what
   * it had is not kept.
   */
  restore(caller: RunningCall, path: string, of: string): Promise<string | null | undefined>;
  /**
   * Stores a session's summary in place of an earlier one, as its own document, so that one removal undoes it. Does
   * nothing if the memory is full.
   */
  remember(session: SummarizedSession, summary: string): Promise<void>;
}

export interface MemoryTools {
  readonly memory: Memory;
}

/** Scopes that one sweep starts; the next one continues. */
const SWEPT = 500;

export function createMemoryActivities(
  parts: IndexDeps &
    Omit<RecordConversationsDeps, 'models'> & {
      readonly models: IndexDeps['models'] & RecordConversationsDeps['models'];
      readonly reach: Pick<WorkflowReach, 'signalWithStart'>;
    },
): {
  readonly activities: MemoryActivities;
  readonly tools: MemoryTools;
  readonly indexPending: () => Promise<number>;
} {
  const { pool, scrubberOf, reach, models } = parts;
  const read: Memory['read'] = (caller, path) => readDocument(pool, scopeOf(caller), path);
  const memory: Memory = {
    search: createSearchMemory(parts),
    read,
    readMain: async (caller) => (await read(caller, MEMORY_FILE)) ?? (await read(caller, 'memory.md')),
    async write(caller, path, content, mode) {
      const scope = scopeOf(caller);
      const { text } = await scrubberOf(caller.tenant);
      const read = caller.readOutside;
      const written = await writeDocument(pool, scope, {
        path,
        author: `agent:${caller.agent}`,
        call: caller.idempotencyKey,
        // What is added to an external text leaves it external.
        outside: hasRead(read) || (mode === 'append' ? undefined : false),
        read,
        by: (seen) => (mode === 'append' && seen ? `${seen.trimEnd()}\n\n${text(content)}` : text(content)),
      });
      await startIndexing(reach, scope);
      return written;
    },
    async restore(caller, path, of) {
      const scope = scopeOf(caller);
      const written = await readVersionOfCall(pool, scope, path, of);
      if (!written) return undefined;
      const before = await readDocumentVersion(pool, scope, path, written.revision - 1);
      if (!before && written.revision > 1)
        throw new Failure('Conflict', `${path} was written so often that what it had before is not kept`);
      const { text = null, ...marks } = before ?? {};
      await writeDocument(pool, scope, {
        ...marks,
        path,
        author: `agent:${caller.agent}`,
        call: caller.idempotencyKey,
        by(seen) {
          if ((seen ?? null) === text) return undefined;
          if (seen !== written.text) throw new Failure('Conflict', `${path} has changed since`);
          return text;
        },
      });
      await startIndexing(reach, scope);
      return text;
    },
    async remember(summarized, summary) {
      const { session, turn } = summarized;
      const scope = scopeOf(summarized);
      const text = `# Session ${session}\n\nA summary of what was said until ${turn}, made when the conversation was shortened.\n\n${summary}\n`;
      try {
        await writeDocument(pool, scope, {
          path: `memory/sessions/${session}.md`,
          author: `summary of ${turn}`,
          outside: hasRead(summarized.readOutside),
          read: summarized.readOutside,
          by: () => text,
        });
      } catch (error) {
        // The turn continues without it.
        if (error instanceof Failure && error.type === 'InvalidInput') return;
        throw error;
      }
      await startIndexing(reach, scope);
    },
  };
  return {
    activities: {
      index_documents: createIndexDocuments(parts),
      read_documents: createReadDocuments(parts),
      record_conversations: createRecordConversations(parts),
    },
    tools: { memory },
    async indexPending() {
      const isUnread = anyOf(parts.readers().map((reader) => reader.isUnread));
      const toIndex = await scopesToIndex(pool, models.embedder(), isUnread, SWEPT);
      const scopes = [...toIndex, ...(await scopesToRecord(pool, SWEPT))];
      for (const scope of scopes) await startIndexing(reach, scope);
      return scopes.length;
    },
  };
}

function hasRead(read: UsedTools): boolean {
  return Object.keys(read).length > 0;
}

function scopeOf({ tenant, agent, user }: Pick<RunningCall, 'tenant' | 'agent' | 'user'>): DocumentScope {
  return { tenant, agent, user };
}
