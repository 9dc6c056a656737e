/** Vectors of texts through `ai`: one request, or as many as the provider's limit requires; the caller retries. */
import { type EmbeddingModel, embedMany } from 'ai';
import { type Embeddings, type EmbedRequest, ModelError } from '#domain/model/model.ts';
import { toModelError } from './model-error.ts';
import { estimateTextTokens } from './prompt-size.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createPatience, guardedFetch } from './guarded-fetch.ts';

export interface SdkEmbedding {
  readonly settings: ProviderSettings;
  /** The key that is sent; it is removed from messages. */
  readonly apiKey: string | undefined;
  readonly createModel: (fetch: typeof globalThis.fetch) => EmbeddingModel;
}

/** More numbers than any model returns for a text; a server that sends more is broken. */
const MAX_DIMENSIONS = 16_384;

/** @throws ModelError for every failure; the signal's own reason when `request.signal` aborted the call. */
export async function embedWithAiSdk(call: SdkEmbedding, request: EmbedRequest): Promise<Embeddings> {
  request.signal.throwIfAborted();
  const { settings, apiKey } = call;
  const context = { provider: settings.name, model: request.model, apiKey };
  const patience = createPatience(settings);
  try {
    const { embeddings, usage } = await embedMany({
      model: call.createModel(guardedFetch(settings.name)),
      values: [...request.texts],
      maxRetries: 0,
      abortSignal: AbortSignal.any([request.signal, patience.signal]),
    });
    const [first] = embeddings;
    const dimensions = first?.length ?? 0;
    const whole = embeddings.every(
      (vector) => vector.length === dimensions && vector.every((value) => Number.isFinite(value)),
    );
    if (!whole || embeddings.length !== request.texts.length || dimensions < 1 || dimensions > MAX_DIMENSIONS)
      throw new ModelError(
        'BadAnswer',
        `${settings.name} (${request.model}) gave vectors that cannot be used`,
      );
    return { vectors: embeddings, tokens: usage.tokens || estimateTextTokens(request.texts) };
  } catch (error) {
    request.signal.throwIfAborted();
    throw toModelError(patience.signal.aborted ? patience.signal.reason : error, context);
  } finally {
    patience.end();
  }
}
