/** Requests to model providers and their answers; each adapter in activities/model/ implements this. */
import type { PromptImage, PromptPdf } from './image.ts';
import type { ChatMessage } from '../turn/message.ts';
import type { Thinking } from './thinking.ts';

/** Used in place of a model's reference, for an answer without a model. */
export const NO_MODEL = 'none';

/** A tool as offered to a model; `parameters` is JSON Schema (draft 2020-12). */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Its results come from outside and are marked. */
  readonly outside?: true;
}

export interface ModelRequest {
  /** The model's id within its provider: `gpt-4.1-mini`, or a rehearsal script's name. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly OfferedTool[];
  /** Images of the newest messages and results, by their ids; absent for a model that sees none. */
  readonly images?: ReadonlyMap<string, readonly (PromptImage | PromptPdf)[]> | undefined;
  readonly maxOutputTokens?: number;
  /** Absent means the provider's default. */
  readonly thinking?: Thinking;
  /** The same for all retries of a step; sent to providers that support one. */
  readonly idempotencyKey: string;
  /** 1 for the first attempt of this step; each retry adds 1. Rehearsal scripts match on it. Absent means 1. */
  readonly attempt?: number;
  readonly signal: AbortSignal;
  /** Called with each piece of text as it arrives. Never throws. */
  readonly onDelta: (text: string) => void;
  /** Called with each piece of what the model thinks, if its provider shows that. Never throws. */
  readonly onThinking?: ((text: string) => void) | undefined;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** Seconds of audio that the model read, if the model is paid for that. */
  readonly audioSeconds?: number;
}

export interface ModelAnswer {
  readonly text: string;
  /** Calls in the model's order; the caller makes their ids. */
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

/** Vectors in the order of the texts, all of one length, and the tokens that were read. */
export interface Embeddings {
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number;
}

export interface TranscribeRequest {
  /** The model's id within its provider. */
  readonly model: string;
  /** Bytes of a recording, or of a film with sound. */
  readonly bytes: Uint8Array;
  /** Media type as its bytes show it. */
  readonly type: string;
  readonly signal: AbortSignal;
}

/** What is said and when, in seconds from the beginning. */
export interface Transcription {
  readonly text: string;
  readonly segments: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  readonly seconds: number | undefined;
}

/**
 * Anthropic, OpenAI, … or `rehearsal`. `generate` throws ModelError for every failure, and AbortError when `signal`
 * aborts.
 */
export interface ModelProvider {
  readonly name: string;
  generate(request: ModelRequest): Promise<ModelAnswer>;
  /** Absent when the provider has no embedding models. */
  embed?(request: EmbedRequest): Promise<Embeddings>;
  /** Absent when the provider's protocol does not support it. */
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

/**
 * A provider's failure in words that a person can act on. `retryable` decides whether Temporal retries or the next
 * fallback is called.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly code: ModelErrorCode;
  readonly retryable: boolean;
  /** Milliseconds that the provider requires before a retry (Retry-After, retry-after-ms). */
  readonly retryAfterMs: number | undefined;
  /** The usage that the provider reported before it failed, if any. */
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
