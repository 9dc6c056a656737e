/** Every server that speaks OpenAI's Chat Completions: OpenRouter, DashScope, MiniMax, Ollama, llama.cpp, vLLM and others. */
import { createOpenAICompatible as createSdk } from '@ai-sdk/openai-compatible';
import { ModelError, type ModelProvider } from '#domain/model.ts';
import { embedWithAiSdk } from './embed-with-ai-sdk.ts';
import { generateWithAiSdk } from './generate-with-ai-sdk.ts';
import { baseUrlOf, givenKeyOf, type ProviderSettings } from './provider-settings.ts';

/** Gives a bare host its usual path; itself it is never asked. */
const USUAL_PATH = 'http://127.0.0.1/v1';

/** A server at `baseUrl`, which takes the key as a bearer token when it takes one. */
export function createOpenAICompatible(settings: ProviderSettings): ModelProvider {
  const { name } = settings;
  const reach = async () => {
    if (!settings.baseUrl)
      throw new ModelError('BadRequest', `models.providers.${name}.baseUrl is not set (docs/models.md)`);
    return { baseURL: baseUrlOf(settings, USUAL_PATH), apiKey: await givenKeyOf(settings) };
  };
  return {
    name,
    async embed(request) {
      const { baseURL, apiKey } = await reach();
      const createModel = (fetch: typeof globalThis.fetch) =>
        createSdk({ name, baseURL, apiKey: apiKey || undefined, fetch }).embeddingModel(request.model);
      return embedWithAiSdk({ settings, apiKey, createModel }, request);
    },
    async generate(request) {
      const { baseURL, apiKey } = await reach();
      const createModel = (fetch: typeof globalThis.fetch) =>
        createSdk({
          name,
          baseURL,
          apiKey: apiKey || undefined,
          includeUsage: true,
          fetch,
        }).chatModel(request.model);
      return generateWithAiSdk({ settings, apiKey, createModel }, request);
    },
  };
}
