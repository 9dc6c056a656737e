/** What a model provider is asked and what it answers; each adapter in activities/model/ speaks this. */
import type { PromptImage, PromptPdf } from './image.ts';
import type { ChatMessage } from './message.ts';
import type { Thinking } from './thinking.ts';

/** A tool as offered to a model; `parameters` is JSON Schema (draft 2020-12). */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** What it gives came from outside and is marked. */
  readonly outside?: true;
}

export interface ModelRequest {
  /** The model's id within its provider: `gpt-4.1-mini`, or a rehearsal script's name. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly OfferedTool[];
  /** Of the newest messages and results, by their ids; absent for a model that sees none. */
  readonly images?: ReadonlyMap<string, readonly (PromptImage | PromptPdf)[]> | undefined;
  readonly maxOutputTokens?: number;
  /** The provider's own default when absent. */
  readonly thinking?: Thinking;
  /** Stable over retries of the same step; sent to providers that take one. */
  readonly idempotencyKey: string;
  /** 1 for the first try of this step, counted up by its retries; rehearsal scripts match on it. Absent means 1. */
  readonly attempt?: number;
  readonly signal: AbortSignal;
  /** Called with each piece of text as it arrives. Never throws. */
  readonly onDelta: (text: string) => void;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** Of what was heard, by a model that is paid for that. */
  readonly audioSeconds?: number;
}

export interface ModelAnswer {
  readonly text: string;
  /** In the order the model gave them; ids are made by the caller. */
  readonly calls: readonly {
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly invalid?: string;
  }[];
  readonly usage: Usage;
  readonly finish: 'stop' | 'calls' | 'length' | 'filtered';
}

export interface EmbedRequest {
  /** The model's id within its provider. */
  readonly model: string;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}

/** Vectors in the order of the texts, all of one length, and what was read for them. */
export interface Embeddings {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
}

export interface TranscribeRequest {
  /** The model's id within its provider. */
  readonly model: string;
  /** A recording, or a film with sound. */
  readonly bytes: Uint8Array;
  /** As its bytes show. */
  readonly type: string;
  readonly signal: AbortSignal;
}

/** What is said, and when: seconds from the beginning. */
export interface Transcription {
  readonly text: string;
  readonly segments: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  readonly seconds: number | undefined;
}

/** Anthropic, OpenAI, … or `rehearsal`. `generate` throws ModelError for every failure, AbortError when `signal` ends it. */
export interface ModelProvider {
  readonly name: string;
  generate(request: ModelRequest): Promise<ModelAnswer>;
  /** Absent where the provider has no models for it. */
  embed?(request: EmbedRequest): Promise<Embeddings>;
  /** Absent where the provider's protocol has none. */
  transcribe?: ((request: TranscribeRequest) => Promise<Transcription>) | undefined;
}

export const MODEL_ERROR_CODES = [
  'RateLimited',
  'Overloaded',
  'Unreachable',
  'Timeout',
  'BadAnswer',
  'Auth',
  'BadRequest',
  'ContextOverflow',
  'UnknownModel',
  'Filtered',
  'TooLarge',
] as const;

export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number];

const RETRYABLE: ReadonlySet<ModelErrorCode> = new Set([
  'RateLimited',
  'Overloaded',
  'Unreachable',
  'Timeout',
  'BadAnswer',
]);

/** A provider's failure in words a person can act on; `retryable` decides whether Temporal tries again or the next fallback is asked. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  /** Milliseconds the provider asked to wait (Retry-After, retry-after-ms). */
  readonly retryAfterMs: number | undefined;
  /** What the provider has counted, where it said so before it failed. */
  readonly usage: Usage | undefined;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: { retryAfterMs?: number; retryable?: boolean; usage?: Usage; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? RETRYABLE.has(code);
    this.retryAfterMs = options.retryAfterMs;
    this.usage = options.usage;
  }
}
