/** Google's Gemini API. */
import { createGoogle as createSdk } from '@ai-sdk/google';
import type { ModelProvider } from '#domain/model.ts';
import { embedWithAiSdk } from './embed-with-ai-sdk.ts';
import { generateWithAiSdk } from './generate-with-ai-sdk.ts';
import { apiKeyOf, baseUrlOf, type ProviderSettings } from './provider-settings.ts';

/** A provider that speaks Gemini's protocol, at Google or at `baseUrl`. */
export function createGoogle(settings: ProviderSettings): ModelProvider {
  const reach = async () => ({
    apiKey: await apiKeyOf(settings),
    baseURL: baseUrlOf(settings, 'https://generativelanguage.googleapis.com/v1beta'),
  });
  return {
    name: settings.name,
    async embed(request) {
      const { apiKey, baseURL } = await reach();
      const createModel = (fetch: typeof globalThis.fetch) =>
        createSdk({ apiKey, baseURL, fetch }).embeddingModel(request.model);
      return embedWithAiSdk({ settings, apiKey, createModel }, request);
    },
    async generate(request) {
      const { apiKey, baseURL } = await reach();
      const createModel = (fetch: typeof globalThis.fetch) =>
        createSdk({ apiKey, baseURL, fetch })(request.model);
      return generateWithAiSdk({ settings, apiKey, createModel }, request);
    },
  };
}
