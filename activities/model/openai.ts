/** OpenAI's two protocols, Responses and Chat Completions. No state is kept at OpenAI: each request carries the transcript. */
import { createHash } from 'node:crypto';
import { createOpenAI as createSdk } from '@ai-sdk/openai';
import type { ModelProvider, ModelRequest } from '#domain/model.ts';
import { embedWithAiSdk } from './embed-with-ai-sdk.ts';
import { generateWithAiSdk } from './generate-with-ai-sdk.ts';
import type { ProviderConfig } from './models-config.ts';
import { apiKeyOf, baseUrlOf, type ProviderSettings } from './provider-settings.ts';

export interface OpenAISettings extends ProviderSettings {
  readonly api: ProviderConfig['api'];
}

/** A provider that speaks OpenAI's protocol. Other servers at `baseUrl` are spoken to in Chat Completions unless `api` says else. */
export function createOpenAI(settings: OpenAISettings): ModelProvider {
  const api = settings.api ?? (settings.baseUrl && !isOpenAI(settings.baseUrl) ? 'chat' : 'responses');
  const reach = async () => ({
    apiKey: await apiKeyOf(settings),
    baseURL: baseUrlOf(settings, 'https://api.openai.com/v1'),
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
      return generateWithAiSdk(
        {
          settings,
          apiKey,
          createModel(fetch) {
            const sdk = createSdk({ apiKey, baseURL, fetch });
            return api === 'chat' ? sdk.chat(request.model) : sdk.responses(request.model);
          },
          headers: { 'Idempotency-Key': keyOf(request) },
          // Chat Completions stores nothing unless asked, and other servers refuse the field.
          // Nobody reads a summary of what it thought, and not every organisation may have one.
          options: api === 'responses' ? { openai: { store: false, reasoningSummary: null } } : undefined,
        },
        request,
      );
    },
  };
}

/** A retry of the same prompt has the same key; a prompt that was compacted since is another request and has its own. */
function keyOf({ idempotencyKey, model, system, messages, tools }: ModelRequest): string {
  const asked = JSON.stringify([model, system, messages, tools]);
  return `${idempotencyKey}-${createHash('sha256').update(asked).digest('hex').slice(0, 16)}`;
}

function isOpenAI(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname.endsWith('.openai.com');
}
