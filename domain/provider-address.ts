/** Where the vendors' own services are: what a provider is asked at unless a setting names another, and whose path a bare host of that gets. */
export const PROVIDER_ADDRESSES = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  openrouter: 'https://openrouter.ai/api/v1',
  dashscope: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  minimax: 'https://api.minimax.io/v1',
  ollama: 'http://127.0.0.1:11434/v1',
} as const;

/** The same of those that make media, which two have elsewhere than their chat. */
export const MEDIA_ADDRESSES = {
  openai: PROVIDER_ADDRESSES.openai,
  google: PROVIDER_ADDRESSES.google,
  minimax: 'https://api.minimax.io',
  dashscope: 'https://dashscope-intl.aliyuncs.com/api/v1',
  elevenlabs: 'https://api.elevenlabs.io',
  edge: 'https://speech.platform.bing.com',
} as const;

/** DashScope's chat, where the address of its own API is given: people name either by `DASHSCOPE_BASE_URL`. */
export function chatAddress(provider: string, baseUrl: string): string {
  return provider === 'dashscope' ? baseUrl.replace(/\/api\/v1\/?$/, '/compatible-mode/v1') : baseUrl;
}
