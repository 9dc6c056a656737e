/** Models that tell what their failures have used: a call that breaks off is paid for like one that ends (DU-7). */
import { ModelError, type ModelProvider, type Usage } from '#domain/model.ts';
import { type ModelUse, wasRead } from '#domain/model-use.ts';
import type { Models } from './model-catalog.ts';
import { estimateAnswerTokens, estimatePromptTokens } from './prompt-size.ts';

/** `onFailed` is told of each call that failed or was stopped after the provider may have read it. It must not throw. */
export function createCountedModels(models: Models, onFailed: (use: ModelUse) => void): Models {
  return {
    ...models,
    resolve(ref) {
      const { provider, model } = models.resolve(ref);
      const count = (usage: Usage): void => onFailed(useOf(models, 'failed', ref, usage));
      return { provider: countFailures(provider, count), model };
    },
  };
}

export function useOf(
  models: Pick<Models, 'cost'>,
  kind: ModelUse['kind'],
  model: string,
  usage: Usage,
): ModelUse {
  const usd = models.cost(model, usage)?.usd;
  return { kind, model, usage, usd };
}

function countFailures(provider: ModelProvider, count: (usage: Usage) => void): ModelProvider {
  return {
    name: provider.name,
    async generate(request) {
      let text = '';
      const onDelta = (piece: string): void => {
        text += piece;
        request.onDelta(piece);
      };
      try {
        return await provider.generate({ ...request, onDelta });
      } catch (error) {
        const failure = error instanceof ModelError ? error : undefined;
        if (failure?.usage) count(failure.usage);
        else if (text !== '' || (failure && wasRead(failure)))
          count({
            inputTokens: estimatePromptTokens(request),
            outputTokens: estimateAnswerTokens({ text, calls: [] }),
            cachedInputTokens: 0,
          });
        throw error;
      }
    },
  };
}
