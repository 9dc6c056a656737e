/** The settings that the models take, as plain values: config.ts reads them, tests write them by hand. */

export type ProviderType = 'anthropic' | 'openai' | 'google' | 'openai-compatible';

export interface ProviderConfig {
  /** Absent for the names that say it themselves: anthropic, openai, google; else openai-compatible. */
  readonly type?: ProviderType | undefined;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** OpenAI only: which of its two protocols. Default `responses`, and `chat` when `baseUrl` is somebody else's. */
  readonly api?: 'responses' | 'chat' | undefined;
}

/** USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Tokens read from the provider's prompt cache; the input price when absent. */
  readonly cachedInput?: number | undefined;
  /** USD per minute of what is heard. */
  readonly minute?: number | undefined;
}

export interface ModelsConfig {
  /** The model of agents that name none, as `provider/model`. */
  readonly default?: string | undefined;
  /** For vectors, as `provider/model`; the provider `embedding`, where there is one, serves it in place of the named one. */
  readonly embedding?: string | undefined;
  /** Those asked about images and PDFs, as `provider/model`, one after the other. */
  readonly vision?: readonly string[] | undefined;
  /** For what is said in recordings, as `provider/model`. */
  readonly transcription?: string | undefined;
  readonly providers: Readonly<Record<string, ProviderConfig | undefined>>;
  /** By `provider/model`; wins over the prices we know. */
  readonly prices?: Readonly<Record<string, Price>> | undefined;
  /** Tokens, by `provider/model`; wins over the windows we know. */
  readonly contextWindows?: Readonly<Record<string, number>> | undefined;
  /** Whether a model takes images, by `provider/model`; wins over what we know. */
  readonly images?: Readonly<Record<string, boolean>> | undefined;
  /** How long a provider may be silent before the first content of its answer. Default 120. */
  readonly firstByteTimeoutSeconds?: number | undefined;
  /** How long a stream may be silent after that. Default 60. */
  readonly idleTimeoutSeconds?: number | undefined;
}

export interface RehearsalConfig {
  /** Folder of the user's own scripts, looked at first. */
  readonly userDir?: string | undefined;
  /** Folder looked at next; the package's own scripts are always looked at last. */
  readonly dir?: string | undefined;
}
