/**
 * Vectors of texts by the model that the settings name: asked once for a text, in bounded time, and counted as the turn's use.
 * Who asks goes on without them when there are none, so a provider that is away never fails a search.
 */
import { Context } from '@temporalio/activity';
import { type Embeddings, ModelError } from '#domain/model.ts';
import type { EmbeddingStore } from '../store/embedding-store.ts';
import type { TurnPlace } from '../store/message-store.ts';
import { useOf } from './counted-models.ts';
import type { Models } from './model-catalog.ts';

/** In the order of the texts, of length 1; undefined when there is no model, or it gave none. All are of one model. */
export type Embed = (
  tenant: string,
  place: TurnPlace,
  texts: readonly string[],
) => Promise<readonly (readonly number[])[] | undefined>;

export interface EmbedDeps {
  readonly store: EmbeddingStore;
  readonly models: Pick<Models, 'resolve' | 'cost'>;
  /** `provider/model`; absent: no vectors. */
  readonly model: string | undefined;
}

/** Of one text; the rest is cut off. The usual models read 8,000 tokens and more. */
const MAX_CHARS = 8_000;
/** In one question. */
const MAX_TEXTS = 512;
/** A search must not wait longer. */
const PATIENCE_MS = 5_000;
/** So long a model that has failed is not asked again. */
const REST_MS = 60_000;

export function createEmbed({ store, models, model }: EmbedDeps): Embed {
  let restUntil = 0;
  return async (tenant, place, given) => {
    if (model === undefined || given.length > MAX_TEXTS) return undefined;
    const texts = given.map((text) => text.slice(0, MAX_CHARS).toWellFormed());
    const vectors = new Map(await store.find(tenant, model, texts));
    const missing = [...new Set(texts)].filter((text) => !vectors.has(text));
    if (missing.length > 0) {
      if (performance.now() < restUntil) return undefined;
      const answer = await ask(models, model, missing);
      if (!answer) {
        restUntil = performance.now() + REST_MS;
        return undefined;
      }
      const fresh = missing.map((text, index) => [text, ofLengthOne(answer.vectors[index] ?? [])] as const);
      const usage = { inputTokens: answer.tokens, outputTokens: 0, cachedInputTokens: 0 };
      await store.save(tenant, place, fresh, useOf(models, 'embedding', model, usage));
      for (const [text, vector] of fresh) vectors.set(text, vector);
    }
    const found = texts.flatMap((text) => [vectors.get(text) ?? []]);
    // A server may have changed what stands behind a model's name.
    return found.every((vector) => vector.length === found[0]?.length) ? found : undefined;
  };
}

async function ask(
  models: EmbedDeps['models'],
  ref: string,
  texts: readonly string[],
): Promise<Embeddings | undefined> {
  const { cancellationSignal, log } = Context.current();
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const { provider, model } = models.resolve(ref);
    if (!provider.embed)
      throw new ModelError('BadRequest', `${provider.name} has no models for vectors (embeddings.model)`);
    return await provider.embed({ model, texts, signal: AbortSignal.any([cancellationSignal, patience]) });
  } catch (error) {
    cancellationSignal.throwIfAborted();
    if (!patience.aborted && !(error instanceof ModelError)) throw error;
    const problem = patience.aborted ? `no answer within ${PATIENCE_MS / 1000} s` : String(error);
    log.warn('no vectors: the search goes on without them', { model: ref, problem });
    return undefined;
  }
}

function ofLengthOne(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
