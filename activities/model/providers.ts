/** The providers: each protocol through its SDK, at the vendor's own service or at `baseUrl`. */
import { createHash } from 'node:crypto';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ModelError, type ModelProvider, type ModelRequest } from '#domain/model/model.ts';
import { PROVIDER_ADDRESSES } from '#domain/model/provider-address.ts';
import { embedWithAiSdk, type SdkEmbedding } from './embed-with-ai-sdk.ts';
import { generateWithAiSdk, type SdkCall } from './generate-with-ai-sdk.ts';
import type { ProviderConfig, ProviderType } from './models-config.ts';
import { apiKeyOf, baseUrlOf, configuredKeyOf, type ProviderSettings } from './provider-settings.ts';
import { transcribe } from '#activities/model/transcribe.ts';

interface Access {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch: typeof fetch;
}

interface Protocol {
  /** The vendor's own service; a bare host gets its path. */
  readonly usual: string;
  chat(access: Access, model: string): ReturnType<SdkCall['createModel']>;
  /** Absent when there are no embedding models. */
  vectors?(access: Access, model: string): ReturnType<SdkEmbedding['createModel']>;
  /** The service supports OpenAI's transcriptions. */
  readonly transcribes?: true;
  /** Options of each request. */
  readonly with?: (
    request: ModelRequest,
  ) => Pick<SdkCall, 'headers' | 'options' | 'cacheMarks' | 'imagesInResults'>;
}

/** What repeats from step to step (tools, system prompt, transcript) is marked for its cache. */
const anthropic: Protocol = {
  usual: PROVIDER_ADDRESSES.anthropic,
  chat: (access, model) => createAnthropic(access)(model),
  with: () => ({
    // The service does not check eagerly streamed arguments, and other servers of this protocol refuse the flag.
    options: { anthropic: { toolStreaming: false } },
    cacheMarks: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    imagesInResults: true,
  }),
};

const google: Protocol = {
  usual: PROVIDER_ADDRESSES.google,
  chat: (access, model) => createGoogle(access)(model),
  vectors: (access, model) => createGoogle(access).embeddingModel(model),
  // A model that cannot think refuses the field, so it is sent only for an agent whose thoughts are shown.
  with: ({ onThinking }) =>
    onThinking ? { options: { google: { thinkingConfig: { includeThoughts: true } } } } : {},
};

/** Two protocols, Responses and Chat Completions. OpenAI keeps no state: each request contains the transcript. */
function openai({ baseUrl }: ProviderSettings, value: ProviderConfig['api']): Protocol {
  // Other servers use Chat Completions unless the settings say otherwise.
  const api = value ?? (baseUrl && !isOpenAI(baseUrl) ? 'chat' : 'responses');
  // Chat Completions stores nothing by default, and other servers refuse the field. Not every organisation may request
  // summaries of reasoning.
  const optionsFor = ({ onThinking }: ModelRequest) =>
    api === 'responses'
      ? { openai: { store: false, reasoningSummary: onThinking ? 'auto' : null } }
      : undefined;
  return {
    usual: PROVIDER_ADDRESSES.openai,
    chat: (access, model) => createOpenAI(access)[api](model),
    vectors: (access, model) => createOpenAI(access).embeddingModel(model),
    transcribes: true,
    with: (request) => ({
      headers: { 'Idempotency-Key': keyOf(request) },
      options: optionsFor(request),
      imagesInResults: api === 'responses',
    }),
  };
}

/** A retry of the same prompt has the same key; a compacted prompt is another request and has its own. */
function keyOf({ idempotencyKey, model, system, messages, tools }: ModelRequest): string {
  const requested = JSON.stringify([model, system, messages, tools]);
  return `${idempotencyKey}-${createHash('sha256').update(requested).digest('hex').slice(0, 16)}`;
}

function isOpenAI(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname.endsWith('.openai.com');
}

/** Every server with OpenAI's Chat Completions: OpenRouter, DashScope, MiniMax, Ollama, llama.cpp, vLLM and others. */
function compatible(name: string): Protocol {
  const sdk = ({ apiKey, ...access }: Access) =>
    createOpenAICompatible({ ...access, name, apiKey: apiKey || undefined, includeUsage: true });
  return {
    // This address itself is never requested.
    usual: 'http://127.0.0.1/v1',
    chat: (access, model) => sdk(access).chatModel(model),
    vectors: (access, model) => sdk(access).embeddingModel(model),
    transcribes: true,
  };
}

/** `api` is one of OpenAI's protocols. It does not use the network. */
export function createProvider(
  type: ProviderType,
  settings: ProviderSettings,
  api: ProviderConfig['api'],
): ModelProvider {
  const { name } = settings;
  const isCompatible = type === 'openai-compatible';
  const protocol = {
    anthropic,
    google,
    openai: openai(settings, api),
    'openai-compatible': compatible(name),
  }[type];
  const { chat, vectors, transcribes } = protocol;
  const reach = async () => {
    if (isCompatible && !settings.baseUrl)
      throw new ModelError('BadRequest', `models.providers.${name}.baseUrl is not set (docs/models.md)`);
    const apiKey = isCompatible ? ((await configuredKeyOf(settings)) ?? '') : await apiKeyOf(settings);
    return { apiKey, baseURL: baseUrlOf(settings, protocol.usual) };
  };
  return {
    name,
    async generate(request) {
      const at = await reach();
      const createModel = (fetch: Access['fetch']) => chat({ ...at, fetch }, request.model);
      const call = { settings, apiKey: at.apiKey, createModel, ...protocol.with?.(request) };
      return generateWithAiSdk(call, request);
    },
    embed:
      vectors &&
      (async (request) => {
        const at = await reach();
        const createModel = (fetch: Access['fetch']) => vectors({ ...at, fetch }, request.model);
        return embedWithAiSdk({ settings, apiKey: at.apiKey, createModel }, request);
      }),
    transcribe: transcribes
      ? async (request) => transcribe({ settings, ...(await reach()) }, request)
      : undefined,
  };
}
