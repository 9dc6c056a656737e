/**
 * Addresses of the vendors' own services: the default for a provider without a configured address. A configured host
 * without a path gets the path of the default.
 */
export const PROVIDER_ADDRESSES = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openrouter: 'https://openrouter.ai/api/v1',
  dashscope: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  minimax: 'https://api.minimax.io/v1',
  ollama: 'http://127.0.0.1:11434/v1',
} as const;

/** Addresses of the services that generate media, where two vendors use another than for chat. */
export const MEDIA_ADDRESSES = {
  openai: PROVIDER_ADDRESSES.openai,
  google: PROVIDER_ADDRESSES.google,
  minimax: 'https://api.minimax.io',
  dashscope: 'https://dashscope-intl.aliyuncs.com/api/v1',
  elevenlabs: 'https://api.elevenlabs.io',
  edge: 'https://speech.platform.bing.com',
} as const;

/** DashScope's chat address for the address of its own API: people set either as `DASHSCOPE_BASE_URL`. */
export function chatAddress(provider: string, baseUrl: string): string {
  return provider === 'dashscope' ? baseUrl.replace(/\/api\/v1\/?$/, '/compatible-mode/v1') : baseUrl;
}
