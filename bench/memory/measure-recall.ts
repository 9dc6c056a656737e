/**
 * Measures how often the first five hits have the answer. Documents are in the index, and questions go through the
 * search that tools use.
 */
import type { DocumentScope } from '#domain/files/document.ts';
import { chunkText } from '../../features/memory/rules/chunk-text.ts';
import { createSearchMemory } from '../../features/memory/activities/search-memory.ts';
import { writeDocument } from '#store/files/document-store.ts';
import {
  saveChunks,
  saveVectors,
  type UnembeddedText,
  unembeddedText,
  unindexedText,
} from '../../features/memory/store/memory-index-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { createScrubber } from '#store/secrets/scrubber.ts';
import type { RecallDocument } from './recall-set.ts';

const HITS = 5;

export interface QuestionRun {
  readonly text: string;
  readonly evidence: readonly string[];
}

export interface RecallPlace {
  readonly pool: Pool;
  readonly tenant: string;
  readonly agent: string;
  /** The user whose memory it goes to; each set has its own. */
  readonly user: string;
}

/** A model for vectors, each of length 1. */
export interface Embedder {
  readonly model: string;
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

export interface Answered<Question> {
  readonly question: Question;
  /** Rank, from 1 to HITS, of the first hit whose text or path has some of the evidence; undefined if none has. */
  readonly place: number | undefined;
}

/** Searches by words alone if there is no embedder. */
export async function askQuestions<Question extends QuestionRun>(
  { pool, ...scope }: RecallPlace,
  documents: readonly RecallDocument[],
  questions: readonly Question[],
  embedder?: Embedder,
): Promise<readonly Answered<Question>[]> {
  for (const { path, text } of documents)
    await writeDocument(pool, scope, { path, author: 'bench', by: () => text });
  for (let next = await unindexedText(pool, scope); next; next = await unindexedText(pool, scope))
    await saveChunks(pool, scope, next, chunkText(next.text), []);
  if (embedder) await embedAll(pool, scope, embedder);
  const search = createSearchMemory({
    pool,
    scrubberOf: async () => createScrubber(),
    embed: async (_tenant, _place, texts) => embedder?.embed(texts),
    readers: () => [],
    models: { embedder: () => embedder?.model },
  });
  const answered: Answered<Question>[] = [];
  for (const question of questions) {
    const caller = { ...scope, sessionKey: 'bench', turnId: 'bench' };
    const { hits } = await search(caller, question.text, { max: HITS, around: 0 });
    const at = hits.findIndex(({ path, text }) =>
      question.evidence.some((words) => path === words || text.includes(words)),
    );
    answered.push({ question, place: at === -1 ? undefined : at + 1 });
  }
  return answered;
}

async function embedAll(pool: Pool, scope: DocumentScope, { model, embed }: Embedder): Promise<void> {
  const remaining = (): Promise<UnembeddedText | undefined> => unembeddedText(pool, scope, model);
  for (let next = await remaining(); next; next = await remaining())
    await saveVectors(pool, scope, next, model, await embed(next.texts));
}
