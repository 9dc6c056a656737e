/**
 * Vectors of texts by the model of the settings: called once for a text, in bounded time, within the turn's budgets,
 * and counted as its use. Callers continue without vectors when there are none, so an unreachable provider never fails
 * a search.
 */
import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { Spent } from '#domain/budget/budget.ts';
import { costsNothing } from '#domain/budget/model-use.ts';
import { type Embeddings, ModelError, type Usage } from '#domain/model/model.ts';
import type { BudgetGuard } from '../budgets/budget-guard.ts';
import type { BudgetedWork } from '#store/budgets/budget-ledger.ts';
import type { EmbeddingStore } from '#store/embedding-store.ts';
import type { TurnPlace } from '#store/turns/message-store.ts';
import { type Models, useOf } from './model-catalog.ts';
import { estimateTextTokens } from './prompt-size.ts';

/** Whose use it is: a turn's, or an agent's background work, whose `holder` identifies its reservation. */
export type EmbedPlace = TurnPlace | { readonly agent: string; readonly holder: string };

/**
 * Vectors in the order of the texts, of length 1, all of one model; undefined when there is no model, or it returned
 * none.
 */
export type Embed = (
  tenant: string,
  place: EmbedPlace,
  texts: readonly string[],
) => Promise<readonly (readonly number[])[] | undefined>;

export interface EmbedDeps {
  readonly store: EmbeddingStore;
  /** Without an embedding model there are no vectors. */
  readonly models: Pick<Models, 'resolve' | 'cost' | 'embedder'>;
  /** Without budget there are no vectors, as when the provider is unreachable. */
  readonly budgets: Pick<BudgetGuard, 'around'>;
}

/** Characters of one text; the rest is cut off. The usual models read 8,000 tokens and more. */
const MAX_CHARS = 8_000;
/** Texts in one request. */
const MAX_TEXTS = 512;
/**
 * A search must not wait longer. Nobody waits for background work, where a slow server may take longer for several
 * texts.
 */
const PATIENCE_MS = { turn: 5_000, background: 60_000 };
/** A model that has failed is not called for this time. */
const REST_MS = 60_000;

export function createEmbed({ store, models, budgets }: EmbedDeps): Embed {
  const model = models.embedder();
  let restUntil = 0;
  return async (tenant, place, values) => {
    if (model === undefined || values.length > MAX_TEXTS) return undefined;
    const texts = values.map((text) => text.slice(0, MAX_CHARS).toWellFormed());
    const vectors = new Map(await store.find(tenant, model, texts));
    const missing = [...new Set(texts)].filter((text) => !vectors.has(text));
    if (missing.length > 0) {
      if (performance.now() < restUntil) return undefined;
      const work = workOf(models, model, tenant, place, missing);
      const done = await budgets.around(
        work,
        1,
        () => ask(models, model, missing, 'agent' in place ? PATIENCE_MS.background : PATIENCE_MS.turn),
        spentBy(models, model),
      );
      if ('exceeded' in done) return undefined;
      const { answer } = done.result;
      if (!answer) {
        restUntil = performance.now() + REST_MS;
        return undefined;
      }
      const fresh = missing.map((text, index) => [text, ofLengthOne(answer.vectors[index] ?? [])] as const);
      await store.save(tenant, place, fresh, useOf(models, 'embedding', model, usageOf(answer.tokens)));
      for (const [text, vector] of fresh) vectors.set(text, vector);
    }
    const found = texts.flatMap((text) => [vectors.get(text) ?? []]);
    // A server may have replaced the model of a name.
    return found.every((vector) => vector.length === found[0]?.length) ? found : undefined;
  };
}

/**
 * A turn's request is reserved separately: a dead worker's reservation counts at the turn's end. Background work finds
 * its reservation again.
 */
function workOf(
  models: EmbedDeps['models'],
  ref: string,
  tenant: string,
  place: EmbedPlace,
  texts: readonly string[],
): BudgetedWork {
  const tokens = estimateTextTokens(texts);
  const usd = models.cost(ref, usageOf(tokens))?.usd;
  const expected = { tokens, usd };
  if ('agent' in place) {
    const { agent, holder } = place;
    return { tenant, session: '', turn: null, owner: holder, holder, agent, expected };
  }
  const { session, turn } = place;
  return { tenant, session, turn, owner: turn, holder: `${turn}.embed.${randomUUID()}`, expected };
}

function spentBy(
  models: EmbedDeps['models'],
  ref: string,
): (outcome: EmbedOutcome) => Omit<Spent, 'seconds'> | undefined {
  return ({ answer, error }) => {
    if (answer) {
      const usd = models.cost(ref, usageOf(answer.tokens))?.usd;
      return { tokens: answer.tokens, usd, calls: 1 };
    }
    const isFree = error instanceof ModelError && costsNothing(error.code);
    return isFree ? { tokens: 0, usd: 0, calls: 0 } : undefined;
  };
}

function usageOf(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0, cachedInputTokens: 0 };
}

type EmbedOutcome =
  | { readonly answer: Embeddings; readonly error?: never }
  | { readonly answer?: never; readonly error: unknown };

async function ask(
  models: EmbedDeps['models'],
  ref: string,
  texts: readonly string[],
  patienceMs: number,
): Promise<EmbedOutcome> {
  const { cancellationSignal, log } = Context.current();
  const patience = AbortSignal.timeout(patienceMs);
  try {
    const { provider, model } = models.resolve(ref);
    if (!provider.embed)
      throw new ModelError('BadRequest', `${provider.name} has no models for vectors (models.embedding)`);
    const signal = AbortSignal.any([cancellationSignal, patience]);
    return { answer: await provider.embed({ model, texts, signal }) };
  } catch (error) {
    cancellationSignal.throwIfAborted();
    if (!patience.aborted && !(error instanceof ModelError)) throw error;
    const problem = patience.aborted ? `no answer within ${patienceMs / 1000} s` : String(error);
    log.warn('no vectors: the search goes on without them', { model: ref, problem });
    return { error };
  }
}

function ofLengthOne(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
