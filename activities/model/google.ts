/** Google's Gemini API. */
import { createGoogle as createSdk } from '@ai-sdk/google';
import type { ModelProvider } from '#domain/model.ts';
import { generateWithAiSdk } from './generate-with-ai-sdk.ts';
import { apiKeyOf, baseUrlOf, type ProviderSettings } from './provider-settings.ts';

/** A provider that speaks Gemini's protocol, at Google or at `baseUrl`. */
export function createGoogle(settings: ProviderSettings): ModelProvider {
  return {
    name: settings.name,
    async generate(request) {
      const apiKey = await apiKeyOf(settings);
      const baseURL = baseUrlOf(settings, 'https://generativelanguage.googleapis.com/v1beta');
      const createModel = (fetch: typeof globalThis.fetch) =>
        createSdk({ apiKey, baseURL, fetch })(request.model);
      return generateWithAiSdk({ settings, apiKey, createModel }, request);
    },
  };
}
