/**
 * Updates the index to the documents (features/memory/workflow.ts). The rows show what is still to be done, so any
 * attempt can continue.
 */
import type { MemoryReader } from '../memory-reader.ts';
import { Context } from '@temporalio/activity';
import type { DocumentScope } from '#domain/files/document.ts';
import type { MemoryActivities } from '../contract.ts';
import { indexWorkflowId } from '../index-id.ts';
import { chunkText } from '../rules/chunk-text.ts';
import { storableText } from '#domain/text/storable-text.ts';
import { unrecordedCount } from '../store/conversation-store.ts';
import {
  pendingCount,
  saveChunks,
  saveVectors,
  unembeddedText,
  unindexedText,
  type UnembeddedText,
} from '../store/memory-index-store.ts';
import { activityFailure, failingAs } from '#activities/activity-failure.ts';
import type { Embed } from '#activities/model/embed.ts';
import type { Models } from '#activities/model/model-catalog.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';

export interface IndexDeps extends Pick<ActivityDeps, 'pool' | 'scrubberOf'> {
  readonly embed: Embed;
  readonly models: Pick<Models, 'embedder'>;
  readonly readers: () => readonly MemoryReader[];
}

/** Documents of one activity, so that their number visibly decreases. */
const AT_ONCE = 20;
/**
 * Texts of one request: few at first, then as many as the server answers within this time, so that it is soon free for
 * a search.
 */
const TEXTS = { first: 8, max: 128 };
const ANSWER_MS = 2_000;
/**
 * For one document in one activity, which may take five minutes: the answers are stored, and the rest waits for the
 * next activity.
 */
const BEGINS_MS = 120_000;

export function createIndexDocuments(deps: IndexDeps): MemoryActivities['index_documents'] {
  const { pool, models } = deps;
  return failingAs(activityFailure, async (scope) => {
    const model = models.embedder() ?? null;
    let waits = false;
    for (let done = 0; done < AT_ONCE && !waits; done += 1) {
      Context.current().cancellationSignal.throwIfAborted();
      // The words of what was written in the meantime are indexed before anything waits for vectors.
      if (await indexWords(deps, scope)) continue;
      const text = model === null ? undefined : await unembeddedText(pool, scope, model);
      if (model === null || !text) break;
      const vectors = await vectorsOf(deps, scope, text);
      if (vectors) await saveVectors(pool, scope, text, model, vectors);
      else waits = true;
    }
    let unread = 0;
    for (const reader of deps.readers()) unread += await reader.unread(pool, scope);
    const unrecorded = await unrecordedCount(pool, scope);
    return {
      pending: await pendingCount(pool, scope, model),
      waits,
      ...(unread > 0 && { unread }),
      ...(unrecorded > 0 && { unrecorded }),
    };
  });
}

/** Indexes one document; returns false when there is none. */
async function indexWords({ pool, scrubberOf, readers }: IndexDeps, scope: DocumentScope): Promise<boolean> {
  const document = await unindexedText(pool, scope);
  if (!document) return false;
  const scrubber = await scrubberOf(scope.tenant);
  // The document's own text belongs to its writer. What others see of it, or find by queries, has no secrets.
  const chunks = chunkText(document.text).map((chunk) => ({
    ...chunk,
    heading: storableText(scrubber.text(chunk.heading)),
    text: storableText(scrubber.text(chunk.text)),
  }));
  await saveChunks(pool, scope, document, chunks, readers());
  return true;
}

/**
 * Returns undefined when the model does not answer, or its budget is used up. Its answers are stored, so the next try
 * requests only the rest.
 */
async function vectorsOf(
  { embed }: IndexDeps,
  scope: DocumentScope,
  { texts }: UnembeddedText,
): Promise<readonly (readonly number[])[] | undefined> {
  const place = { agent: scope.agent, holder: indexWorkflowId(scope) };
  const vectors: (readonly number[])[] = [];
  let size = TEXTS.first;
  const startedAt = performance.now();
  while (vectors.length < texts.length) {
    Context.current().cancellationSignal.throwIfAborted();
    const began = performance.now();
    if (began - startedAt > BEGINS_MS) return undefined;
    const some = await embed(scope.tenant, place, texts.slice(vectors.length, vectors.length + size));
    if (!some) return undefined;
    vectors.push(...some);
    const isQuick = performance.now() - began < ANSWER_MS;
    size = isQuick ? Math.min(TEXTS.max, size * 2) : Math.max(1, Math.floor(size / 2));
  }
  return vectors;
}

/** Lets the readers of memory read some of it, one after the other. */
export function createReadDocuments({
  readers,
}: Pick<IndexDeps, 'readers'>): MemoryActivities['read_documents'] {
  return failingAs(activityFailure, async (scope) => {
    let pending = 0;
    let waits = false;
    for (const reader of readers()) {
      const remaining = await reader.read(scope);
      pending += remaining.pending;
      waits ||= remaining.waits;
    }
    return { pending, waits };
  });
}
