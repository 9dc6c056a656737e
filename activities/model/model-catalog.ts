/**
 * The known models: finds the provider of a reference `provider/model`, and knows windows and prices. Only this module
 * turns settings into providers, so that all other code uses domain/model/model.ts.
 */
import { join } from 'node:path';
import { ModelError, type ModelProvider, type Usage } from '#domain/model/model.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import {
  DEFAULT_CONTEXT_WINDOW,
  DEFAULT_MODELS,
  EXACT_PRICES,
  KNOWN_MODELS,
  type KnownModel,
  SEES_IMAGES,
  VISION_MODELS,
} from './known-models.ts';
import type { ModelsConfig, Price, ProviderType, RehearsalConfig } from './models-config.ts';
import type { ProviderSettings } from './provider-settings.ts';
import { createProvider } from './providers.ts';
import { createRehearsal } from './rehearsal.ts';
import { createScriptStore } from './rehearsal-script.ts';

export interface ResolvedModel {
  readonly provider: ModelProvider;
  /** The model's id within its provider; it may contain slashes (`openrouter/anthropic/claude-…`). */
  readonly model: string;
}

export interface Models {
  /** @throws ModelError UnknownModel naming the known providers and the setting that adds one. */
  resolve(ref: string): ResolvedModel;
  /** Undefined when the model exists; otherwise the reason. */
  problem(ref: string): string | undefined;
  /**
   * The model for agents without one: the set default, otherwise the best configured provider's, otherwise
   * `rehearsal/welcome`.
   */
  best(): string;
  /** The embedding model; undefined when there is none. */
  embedder(): string | undefined;
  /** The chain of models for questions about images and PDFs; empty when none sees. */
  vision(): readonly string[];
  /** The model for recordings; undefined when there is none. */
  transcriber(): string | undefined;
  /** Tokens of prompt and answer together; a careful estimate for unknown models. */
  contextWindow(ref: string): number;
  /** Whether it accepts images; false for an unknown model. */
  seesImages(ref: string): boolean;
  /** Undefined when the price is unknown, which does not mean free. */
  cost(ref: string, usage: Usage): { readonly usd: number } | undefined;
}

export function useOf(
  models: Pick<Models, 'cost'>,
  kind: ModelUse['kind'],
  model: string,
  usage: Usage,
): ModelUse {
  return { kind, model, usage, usd: models.cost(model, usage)?.usd };
}

/** The name of the transcription model on servers of OpenAI's protocol. */
const TRANSCRIBER = 'whisper-1';

/** The scripts that are part of the package. */
export const PACKAGE_SCRIPTS = join(import.meta.dirname, '../../examples/rehearsal');

/** The defaults: a slow first token is usual for long prompts, a silent stream is not. */
const FIRST_BYTE_SECONDS = 120;
const IDLE_SECONDS = 60;

/** Providers whose name determines the protocol; every other name is an openai-compatible server. */
const TYPE_OF_NAME: ReadonlyMap<string, ProviderType> = new Map([
  ['anthropic', 'anthropic'],
  ['openai', 'openai'],
  ['google', 'google'],
]);

/** The protocol of a provider in the settings. */
export function providerType(name: string, type: ProviderType | undefined): ProviderType {
  return type ?? TYPE_OF_NAME.get(name) ?? 'openai-compatible';
}

/** Creates the providers that the settings configure, without using the network. */
export function createModels(
  config: ModelsConfig,
  rehearsal: RehearsalConfig = {},
  resolveSecret: ProviderSettings['resolveSecret'] = (text) => Promise.resolve(text),
): Models {
  const folders = [rehearsal.userDir, rehearsal.dir, PACKAGE_SCRIPTS].filter((dir) => dir !== undefined);
  const firstByteTimeoutMs = (config.firstByteTimeoutSeconds ?? FIRST_BYTE_SECONDS) * 1000;
  const idleTimeoutMs = (config.idleTimeoutSeconds ?? IDLE_SECONDS) * 1000;
  const providers = new Map<string, ModelProvider>();
  for (const [name, provider] of Object.entries(config.providers)) {
    if (!provider || name === 'rehearsal') continue;
    const { apiKey, baseUrl, api, toolCallPrefix } = provider;
    const settings = {
      name,
      apiKey,
      baseUrl,
      toolCallPrefix,
      resolveSecret,
      firstByteTimeoutMs,
      idleTimeoutMs,
    };
    providers.set(name, createProvider(providerType(name, provider.type), settings, api));
  }
  providers.set('rehearsal', createRehearsal(createScriptStore([...new Set(folders)])));

  const resolve = (ref: string): ResolvedModel => {
    const slash = ref.indexOf('/');
    const provider = providers.get(ref.slice(0, Math.max(slash, 0)));
    const model = ref.slice(slash + 1);
    if (provider && model) return { provider, model };
    throw unknownModel(ref, [...providers.keys()]);
  };

  return {
    resolve,
    problem(ref) {
      try {
        resolve(ref);
        return undefined;
      } catch (error) {
        if (error instanceof ModelError) return error.message;
        throw error;
      }
    },
    best() {
      if (config.default) return config.default;
      const found = DEFAULT_MODELS.find(([provider]) => providers.has(provider));
      return found ? found.join('/') : 'rehearsal/welcome';
    },
    embedder() {
      const { embedding: ref } = config;
      return ref !== undefined && providers.has('embedding')
        ? `embedding/${ref.slice(ref.indexOf('/') + 1)}`
        : ref;
    },
    vision: () =>
      config.vision ??
      VISION_MODELS.filter(([provider]) => providers.has(provider)).map((one) => one.join('/')),
    transcriber() {
      const { transcription: ref } = config;
      if (providers.has('transcribe')) return `transcribe/${ref?.slice(ref.indexOf('/') + 1) ?? TRANSCRIBER}`;
      return ref ?? (providers.has('openai') ? `openai/${TRANSCRIBER}` : undefined);
    },
    contextWindow(ref) {
      return config.contextWindows?.[ref] ?? knownModel(ref)?.contextWindow ?? DEFAULT_CONTEXT_WINDOW;
    },
    seesImages: (ref) =>
      config.images?.[ref] ?? (config.vision?.includes(ref) || SEES_IMAGES.test(modelName(ref))),
    cost(ref, usage) {
      const price = config.prices?.[ref] ?? knownPrice(ref);
      return price && (usage.audioSeconds === undefined || price.minute !== undefined)
        ? { usd: costOf(price, usage) }
        : undefined;
    },
  };
}

function unknownModel(ref: string, providers: readonly string[]): ModelError {
  const shown = JSON.stringify(ref.slice(0, 200));
  const slash = ref.indexOf('/');
  const known = `Providers configured: ${providers.join(', ')}.`;
  if (slash < 1 || slash === ref.length - 1) {
    return new ModelError(
      'UnknownModel',
      `${shown} is not a model; write provider/model, such as rehearsal/welcome. ${known}`,
    );
  }
  const name = ref.slice(0, slash);
  const setting = `models.providers.${name}.apiKey in tempoclaw.yaml, or its environment variable (docs/models.md)`;
  return new ModelError(
    'UnknownModel',
    `The provider of ${shown} is not configured. ${known} To add it set ${setting}.`,
  );
}

/** OpenRouter's ids contain the maker (`anthropic/claude-…`), so the last part is looked up. */
function modelName(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function knownModel(ref: string): KnownModel | undefined {
  const name = modelName(ref);
  const fitting = KNOWN_MODELS.filter((model) => name.startsWith(model.prefix));
  return fitting.sort((a, b) => b.prefix.length - a.prefix.length)[0];
}

/** List prices apply only to the maker's own service: other services that serve the same model set theirs. */
function knownPrice(ref: string): Price | undefined {
  const provider = ref.slice(0, ref.indexOf('/'));
  if (provider === 'rehearsal') return { input: 0, output: 0 };
  if (!TYPE_OF_NAME.has(provider)) return undefined;
  return EXACT_PRICES.get(modelName(ref)) ?? knownModel(ref)?.price;
}

const TOKENS_PER_PRICE = 1_000_000;

function costOf(price: Price, usage: Usage): number {
  const fresh = Math.max(usage.inputTokens - usage.cachedInputTokens, 0);
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  return (
    (fresh * price.input + cached * (price.cachedInput ?? price.input) + usage.outputTokens * price.output) /
      TOKENS_PER_PRICE +
    ((usage.audioSeconds ?? 0) / 60) * (price.minute ?? 0)
  );
}
