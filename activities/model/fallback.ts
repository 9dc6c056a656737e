/**
 * Calls a chain of models in order until one answers (MO-1). Temporal waits and retries: each model is called once per
 * call.
 */
import {
  type ModelAnswer,
  ModelError,
  type ModelErrorCode,
  type ModelRequest,
  type Usage,
} from '#domain/model/model.ts';
import { type ModelUse, wasRead } from '#domain/budget/model-use.ts';
import { type Models, useOf } from './model-catalog.ts';
import { estimateAnswerTokens, estimatePromptTokens } from './prompt-size.ts';

export interface Fallback {
  readonly from: string;
  readonly to: string;
  readonly error: ModelError;
  /** The failed model had already produced text: code that shows it must start again. */
  readonly emitted: boolean;
}

/**
 * A wrong request is wrong for every model. A too long one is compacted by the caller. A too large answer is paid for.
 */
const FINAL: ReadonlySet<ModelErrorCode> = new Set(['BadRequest', 'Filtered', 'ContextOverflow', 'TooLarge']);

/**
 * The first answer of `refs`, with the reference that gave it. It sets `request.model`. @throws ModelError of the model
 * that ended the chain. When all failed, it is retryable if any was, with the shortest requested wait. The signal's own
 * reason when it aborted the call.
 */
export async function generateWithFallback(
  models: Pick<Models, 'resolve' | 'cost' | 'seesImages'>,
  refs: readonly string[],
  request: Omit<ModelRequest, 'model'>,
  options: {
    /** Called before the next model. Must not throw. */
    readonly onFallback?: (fallback: Fallback) => void;
    /**
     * Called for each call that failed or was stopped after the provider may have read it, because it is paid for (DU-7).
     * Must not throw.
     */
    readonly onFailed?: (use: ModelUse) => void;
  } = {},
): Promise<{ readonly answer: ModelAnswer; readonly ref: string }> {
  const chain = [...new Set(refs)];
  const failures: { ref: string; error: ModelError }[] = [];
  for (const [index, ref] of chain.entries()) {
    let words = '';
    const onDelta = (text: string) => {
      words += text;
      request.onDelta(text);
    };
    const requested = models.seesImages(ref) ? request : { ...request, images: undefined };
    try {
      const { provider, model } = models.resolve(ref);
      return { answer: await provider.generate({ ...requested, model, onDelta }), ref };
    } catch (error) {
      const usage = usageOfFailure(error, requested, words);
      if (usage) options.onFailed?.(useOf(models, 'failed', ref, usage));
      if (!(error instanceof ModelError)) throw error;
      request.signal.throwIfAborted();
      if (FINAL.has(error.code) && !(error.code === 'BadRequest' && error.retryable)) throw error;
      failures.push({ ref, error });
      const to = chain[index + 1];
      if (to !== undefined) options.onFallback?.({ from: ref, to, error, emitted: words !== '' });
    }
  }
  throw summarise(failures);
}

/** The usage that the provider reported before it failed; undefined when nothing was read. */
function usageOfFailure(
  error: unknown,
  request: Omit<ModelRequest, 'model'>,
  text: string,
): Usage | undefined {
  const failure = error instanceof ModelError ? error : undefined;
  if (failure?.usage) return failure.usage;
  if (text === '' && !(failure && wasRead(failure))) return undefined;
  return {
    inputTokens: estimatePromptTokens(request),
    outputTokens: estimateAnswerTokens({ text: text, calls: [] }),
    cachedInputTokens: 0,
  };
}

function summarise(failures: readonly { ref: string; error: ModelError }[]): ModelError {
  const first = failures[0];
  if (!first)
    return new ModelError(
      'UnknownModel',
      'No model is named; set models.default or the agent’s model (docs/models.md)',
    );
  if (failures.length === 1) return first.error;
  const retryable = failures.filter(({ error }) => error.retryable);
  const main = (retryable[0] ?? first).error;
  const waits = retryable.flatMap(({ error }) => error.retryAfterMs ?? []);
  const message = failures.map(({ ref, error }) => `${ref}: ${error.code}: ${error.message}`).join('\n');
  return new ModelError(main.code, `All ${failures.length} models failed.\n${message}`, {
    retryable: retryable.length > 0,
    retryAfterMs: waits.length > 0 ? Math.min(...waits) : undefined,
  });
}
