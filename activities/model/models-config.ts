/** The settings of models as plain values: config.ts reads them, tests write them directly. */

export type ProviderType = 'anthropic' | 'openai' | 'google' | 'openai-compatible';

export interface ProviderConfig {
  /** Absent when the name determines it: anthropic, openai, google; otherwise openai-compatible. */
  readonly type?: ProviderType | undefined;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /**
   * OpenAI only: which of its two protocols. Default `responses`, and `chat` when `baseUrl` belongs to another service.
   */
  readonly api?: 'responses' | 'chat' | undefined;
  /** What a proxy puts around the names of tools in calls: `proxy_`, or `pre_{tool_name}_suf`. */
  readonly toolCallPrefix?: string | undefined;
}

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Tokens read from the provider's prompt cache; the input price when absent. */
  readonly cachedInput?: number | undefined;
  /** USD per minute of audio. */
  readonly minute?: number | undefined;
}

export interface ModelsConfig {
  /** The model of agents without one, as `provider/model`. */
  readonly default?: string | undefined;
  /** The embedding model, as `provider/model`; a provider named `embedding` serves it in place of the named one. */
  readonly embedding?: string | undefined;
  /** Models for questions about images and PDFs, as `provider/model`, in order. */
  readonly vision?: readonly string[] | undefined;
  /** The model for speech in recordings, as `provider/model`. */
  readonly transcription?: string | undefined;
  readonly providers: Readonly<Record<string, ProviderConfig | undefined>>;
  /** By `provider/model`; they take precedence over the known prices. */
  readonly prices?: Readonly<Record<string, Price>> | undefined;
  /** Tokens, by `provider/model`; they take precedence over the known windows. */
  readonly contextWindows?: Readonly<Record<string, number>> | undefined;
  /** Whether a model accepts images, by `provider/model`; takes precedence over what is known. */
  readonly images?: Readonly<Record<string, boolean>> | undefined;
  /** Seconds that a provider may be silent before the first content of its answer. Default 120. */
  readonly firstByteTimeoutSeconds?: number | undefined;
  /** Seconds that a stream may be silent after that. Default 60. */
  readonly idleTimeoutSeconds?: number | undefined;
}

export interface RehearsalConfig {
  /** Folder of the user's own scripts, searched first. */
  readonly userDir?: string | undefined;
  /** Folder that is searched next; the package's own scripts come last. */
  readonly dir?: string | undefined;
}
