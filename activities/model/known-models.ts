/**
 * Context windows, prices and default models as the providers publish them. Data only; `models.prices` and
 * `models.contextWindows` in the settings take precedence. A model whose price is not listed has an unknown cost, never
 * 0. Sources: claude.com/pricing and platform.claude.com models overview, developers.openai.com/api/docs/pricing and
 * /models, ai.google.dev/gemini-api/docs/pricing: list prices for the standard tier and short prompts.
 */
import type { Price } from './models-config.ts';

export interface KnownModel {
  /** The prefix of the model's id. The longest match wins, so dated versions find their family. */
  readonly prefix: string;
  /** Tokens of prompt and answer together. */
  readonly contextWindow: number;
  readonly price?: Price;
}

/** The assumption for an unknown model: small enough to be true of most servers. */
export const DEFAULT_CONTEXT_WINDOW = 128_000;

export const KNOWN_MODELS: readonly KnownModel[] = [
  { prefix: 'claude-', contextWindow: 200_000 },
  { prefix: 'claude-haiku-4-5', contextWindow: 200_000, price: { input: 1, output: 5, cachedInput: 0.1 } },
  { prefix: 'claude-sonnet-4', contextWindow: 200_000, price: { input: 3, output: 15, cachedInput: 0.3 } },
  {
    prefix: 'claude-sonnet-4-6',
    contextWindow: 1_000_000,
    price: { input: 3, output: 15, cachedInput: 0.3 },
  },
  { prefix: 'claude-opus-4-5', contextWindow: 200_000, price: { input: 5, output: 25, cachedInput: 0.5 } },
  { prefix: 'claude-opus-4-6', contextWindow: 1_000_000, price: { input: 5, output: 25, cachedInput: 0.5 } },
  { prefix: 'claude-opus-4-7', contextWindow: 1_000_000, price: { input: 5, output: 25, cachedInput: 0.5 } },
  { prefix: 'claude-opus-5', contextWindow: 1_000_000, price: { input: 5, output: 25, cachedInput: 0.5 } },
  { prefix: 'claude-opus-5-5', contextWindow: 1_000_000, price: { input: 4, output: 20, cachedInput: 0.4 } },
  {
    prefix: 'claude-sonnet-5-5',
    contextWindow: 1_000_000,
    price: { input: 2, output: 10, cachedInput: 0.2 },
  },
  { prefix: 'claude-haiku-5-5', contextWindow: 1_000_000 },
  { prefix: 'gpt-4o', contextWindow: 128_000, price: { input: 2.5, output: 10, cachedInput: 1.25 } },
  { prefix: 'gpt-4o-mini', contextWindow: 128_000, price: { input: 0.15, output: 0.6, cachedInput: 0.075 } },
  { prefix: 'gpt-4.1', contextWindow: 1_047_576, price: { input: 2, output: 8, cachedInput: 0.5 } },
  { prefix: 'gpt-4.1-mini', contextWindow: 1_047_576, price: { input: 0.4, output: 1.6, cachedInput: 0.1 } },
  {
    prefix: 'gpt-4.1-nano',
    contextWindow: 1_047_576,
    price: { input: 0.1, output: 0.4, cachedInput: 0.025 },
  },
  { prefix: 'gpt-5', contextWindow: 400_000 },
  { prefix: 'gpt-5-mini', contextWindow: 400_000, price: { input: 0.25, output: 2, cachedInput: 0.025 } },
  { prefix: 'gpt-5-nano', contextWindow: 400_000, price: { input: 0.05, output: 0.4, cachedInput: 0.005 } },
  { prefix: 'gpt-6', contextWindow: 400_000 },
  { prefix: 'o3', contextWindow: 200_000 },
  { prefix: 'o4-mini', contextWindow: 200_000, price: { input: 1.1, output: 4.4, cachedInput: 0.275 } },
  { prefix: 'gemini-', contextWindow: 1_048_576 },
  { prefix: 'gemini-2.5-pro', contextWindow: 1_048_576, price: { input: 1.25, output: 10 } },
  { prefix: 'gemini-2.5-flash', contextWindow: 1_048_576, price: { input: 0.3, output: 2.5 } },
  { prefix: 'gemini-2.5-flash-lite', contextWindow: 1_048_576, price: { input: 0.1, output: 0.4 } },
  { prefix: 'qwen', contextWindow: 128_000 },
  { prefix: 'MiniMax-', contextWindow: 200_000 },
];

/** Families that accept images besides text. */
export const SEES_IMAGES =
  /^(?:claude-|gpt-4o(?!.*(?:audio|realtime|search))|gpt-4\.1|gpt-[56]|o3(?!-mini)|o4-mini|gemini-|qwen[\d.]*-vl)/;

/** Ids without a family: prices for the exact model only, because newer ones share its prefix. */
export const EXACT_PRICES: ReadonlyMap<string, Price> = new Map([
  ['gpt-5', { input: 1.25, output: 10, cachedInput: 0.125 }],
  ['gpt-5-2025-08-07', { input: 1.25, output: 10, cachedInput: 0.125 }],
  ['whisper-1', { input: 0, output: 0, minute: 0.006 }],
  ['text-embedding-3-small', { input: 0.02, output: 0 }],
  ['text-embedding-3-large', { input: 0.13, output: 0 }],
]);

/** Models for questions about images when the settings name none, if their providers are configured. */
export const VISION_MODELS: readonly (readonly [provider: string, model: string])[] = [
  ['google', 'gemini-flash-latest'],
  ['anthropic', 'claude-sonnet-5-5'],
  ['openai', 'gpt-5.4'],
  ['openrouter', 'google/gemini-2.5-flash'],
  ['dashscope', 'qwen-vl-max'],
];

/**
 * The default model for a configured provider when no default is set, best provider first. A user's own
 * openai-compatible server has no entry: only the user knows what it serves.
 */
export const DEFAULT_MODELS: readonly (readonly [provider: string, model: string])[] = [
  ['anthropic', 'claude-sonnet-5-5'],
  ['openai', 'gpt-5.4'],
  ['google', 'gemini-flash-latest'],
  ['openrouter', 'openrouter/auto'],
  ['dashscope', 'qwen-plus'],
  ['minimax', 'MiniMax-M2'],
];
