/** Finds pieces of memory by words and vectors, and merges them into one list (memory_search). */
import { type QuestionTime, questionTime, beforeEvent } from '../rules/question-time.ts';
import { fuseHits } from '../rules/fuse-hits.ts';
import { rankMatches, timeOf } from '../rules/rank-matches.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import { type ChunkKey, findByVector, hiddenDocuments, readChunks } from '../store/memory-search.ts';
import { queryWords, findByWords } from '../store/memory-words.ts';
import type { EmbedPlace } from '#activities/model/embed.ts';
import type { IndexDeps } from './index-memory.ts';
import { shownMemory } from './shown-memory.ts';

/** A hit as tools show it. */
export interface MemoryHit {
  readonly path: string;
  /** Its lines, from 1, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** 0 to 1. */
  readonly score: number;
  readonly why: string;
  /** Marked if it is external (SC-4). */
  readonly text: string;
  /** ISO 8601 time of the document. */
  readonly written: string;
}

export interface MemoryFound {
  readonly hits: readonly MemoryHit[];
  /** `words and meaning`, or `words` with the reason why meaning was not used. */
  readonly by: string;
}

const FIRST: QuestionTime = { order: 'oldest', until: Infinity, isAboutTime: true };

export type SearchMemory = (
  caller: Pick<RunningCall, 'tenant' | 'agent' | 'user' | 'sessionKey' | 'turnId'>,
  query: string,
  options: {
    readonly max: number;
    readonly minScore?: number | undefined;
    /** Pieces before and after each hit that are shown with it. */
    readonly around: number;
    /** ISO 8601: only documents whose last change is within these. */
    readonly after?: string | undefined;
    readonly before?: string | undefined;
  },
) => Promise<MemoryFound>;

export function createSearchMemory({ pool, scrubberOf, embed, models }: IndexDeps): SearchMemory {
  return async ({ tenant, agent, user, sessionKey, turnId }, query, options) => {
    const scope = { tenant, agent, user };
    const model = models.embedder();
    const place: EmbedPlace = { session: sessionKey, turn: turnId };
    const requested = (await scrubberOf(tenant)).text(query);
    const [hidden, vectors] = await Promise.all([
      hiddenDocuments(pool, scope, options),
      model === undefined ? undefined : embed(tenant, place, [requested]),
    ]);
    const searched = { ...scope, hidden };
    const find = async (text: string, time: QuestionTime) =>
      rankMatches(await findByWords(pool, searched, await queryWords(pool, searched, text)), time);
    const before = beforeEvent(query);
    // The text that mentioned it first, because later texts mention it too.
    const [event] = before ? await find(before.event, FIRST) : [];
    const time: QuestionTime = event
      ? { order: 'newest', until: timeOf(event), isAboutTime: true }
      : questionTime(query, Date.now());
    const [byWords, byVector, beforeIt] = await Promise.all([
      find(query, time),
      model && vectors?.[0] ? findByVector(pool, searched, model, vectors[0]) : undefined,
      // The event's own words find statements about it, and not what was before.
      before && event ? find(before.question, time) : undefined,
    ]);
    // Vectors ignore time, so if the question is about time, words count twice.
    const lists = byVector
      ? [...(time.isAboutTime ? [beforeIt ?? byWords] : []), byWords, byVector]
      : [...(beforeIt ? [beforeIt] : []), byWords];
    const best = fuseHits(lists, keyOf)
      .filter(({ score }) => score >= (options.minScore ?? 0))
      .slice(0, options.max);
    const rows = await readChunks(
      pool,
      scope,
      best.map(({ item }) => item),
      options.around,
    );
    const byKey = new Map(rows.map((row) => [keyOf(row), row]));
    const hits = best.flatMap(({ item, score, why }): MemoryHit[] => {
      const row = byKey.get(keyOf(item));
      if (!row) return [];
      const { path, from, to, updated_at } = row;
      const text = shownMemory(row, row.text);
      return [{ path, from, to, score: rounded(score), why, text, written: updated_at.toISOString() }];
    });
    return { hits, by: byVector ? 'words and meaning' : `words: ${whyNoVectors(model)}` };
  };
}

function keyOf({ user_id, path, n }: ChunkKey): string {
  return `${user_id}/${path}/${n}`;
}

function rounded(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}

function whyNoVectors(model: string | undefined): string {
  return model === undefined ? 'there is no model for vectors (models.embedding)' : `${model} did not answer`;
}
