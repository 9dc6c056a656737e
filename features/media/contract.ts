/**
 * Pictures, sounds, videos and speech that providers make: which provider makes what, in which order they are called,
 * and what it costs.
 */

export const MEDIA_KINDS = ['image', 'music', 'sound_effect', 'video', 'speech'] as const;
export type MediaKind = (typeof MEDIA_KINDS)[number];

export const MEDIA_PROVIDERS = ['openai', 'google', 'minimax', 'dashscope', 'elevenlabs', 'edge'] as const;
export type MediaProvider = (typeof MEDIA_PROVIDERS)[number];

export const IMAGE_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'] as const;
export type ImageRatio = (typeof IMAGE_RATIOS)[number];

/** The request, independent of any provider's protocol. */
export interface MediaRequest {
  readonly kind: MediaKind;
  /** What to make, or the text to speak. */
  readonly prompt: string;
  readonly ratio?: ImageRatio | undefined;
  readonly seconds?: number | undefined;
  readonly lyrics?: string | undefined;
  readonly instrumental?: boolean | undefined;
  readonly voice?: string | undefined;
  /** The first frame of a video. */
  readonly image?: { readonly bytes: Uint8Array; readonly type: string } | undefined;
}

/**
 * The models that are called by default, the next one if one cannot do it. Only providers that are configured count.
 */
export const USUAL_CHAINS: Readonly<Record<MediaKind, readonly string[]>> = {
  image: [
    'openai/gpt-image-1.5',
    'google/gemini-2.5-flash-image',
    'minimax/image-01',
    'dashscope/wan2.5-t2i-preview',
  ],
  music: ['minimax/music-2.6'],
  sound_effect: ['elevenlabs/eleven_text_to_sound_v2'],
  video: ['minimax/MiniMax-H3', 'minimax/MiniMax-Hailuo-2.3'],
  speech: [
    'openai/gpt-4o-mini-tts',
    'elevenlabs/eleven_multilingual_v2',
    'minimax/speech-2.8-hd',
    'edge/readaloud',
  ],
};

/** US dollars for a piece, for a second of it, or for a million characters of the prompt. */
export interface MediaPrice {
  readonly usd: number;
  readonly per: 'piece' | 'second' | 'million_characters';
}

/**
 * List prices as the providers publish them. The settings' prices win, and an unlisted price is unknown. OpenAI's are
 * for the largest picture of medium quality, and an estimate for a million characters of speech.
 */
export const KNOWN_MEDIA_PRICES: Readonly<Record<string, MediaPrice>> = {
  'openai/gpt-image-1.5': { usd: 0.05, per: 'piece' },
  'openai/gpt-4o-mini-tts': { usd: 15, per: 'million_characters' },
  'google/gemini-2.5-flash-image': { usd: 0.039, per: 'piece' },
  'minimax/image-01': { usd: 0.0035, per: 'piece' },
  'minimax/MiniMax-H3': { usd: 0.08, per: 'second' },
  'minimax/speech-2.8-hd': { usd: 100, per: 'million_characters' },
  'dashscope/wan2.5-t2i-preview': { usd: 0.03, per: 'piece' },
  'edge/readaloud': { usd: 0, per: 'piece' },
};

/** Returns undefined if the price, or the quantity, is unknown: unknown is not free. */
export function mediaCost(
  price: MediaPrice | undefined,
  { prompt, seconds }: MediaRequest,
): number | undefined {
  if (price?.per === 'million_characters') return (price.usd * prompt.length) / 1_000_000;
  if (price?.per === 'second') return seconds === undefined ? undefined : price.usd * seconds;
  return price?.usd;
}
