/** Anthropic's Messages API. What repeats from step to step (tools, system prompt, transcript) is marked for its cache. */
import { createAnthropic as createSdk } from '@ai-sdk/anthropic';
import type { ModelProvider } from '#domain/model.ts';
import { generateWithAiSdk } from './generate-with-ai-sdk.ts';
import { apiKeyOf, baseUrlOf, type ProviderSettings } from './provider-settings.ts';

const CACHE_MARKS = { anthropic: { cacheControl: { type: 'ephemeral' as const } } };
/** Eagerly streamed arguments are not checked by the service, and other servers of this protocol refuse the flag. */
const OPTIONS = { anthropic: { toolStreaming: false } };

/** A provider that speaks Anthropic's protocol, at Anthropic or at `baseUrl`. */
export function createAnthropic(settings: ProviderSettings): ModelProvider {
  return {
    name: settings.name,
    async generate(request) {
      const apiKey = await apiKeyOf(settings);
      const baseURL = baseUrlOf(settings, 'https://api.anthropic.com/v1');
      return generateWithAiSdk(
        {
          settings,
          apiKey,
          createModel: (fetch) => createSdk({ apiKey, baseURL, fetch })(request.model),
          options: OPTIONS,
          cacheMarks: CACHE_MARKS,
        },
        request,
      );
    },
  };
}
