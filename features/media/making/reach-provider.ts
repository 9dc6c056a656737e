/** Which provider a `provider/model` names: its address, its key, and its protocol. */
import type { MediaProvider } from '../contract.ts';
import { MEDIA_ADDRESSES } from '#domain/model/provider-address.ts';
import type { MediaSettings } from '../schema.ts';
import type { ModelsConfig, ProviderConfig } from '#activities/model/models-config.ts';
import { dashscope } from './dashscope.ts';
import { edgeSpeech } from './edge-speech.ts';
import { elevenlabs } from './elevenlabs.ts';
import { minimax } from './minimax.ts';
import type { MediaMaker } from './media-maker.ts';
import { googleMedia, openaiMedia } from './sdk-makers.ts';

interface Place {
  readonly maker: MediaMaker;
  /** The end of a base URL for chat, which its media URLs do not have. */
  readonly chatPath?: RegExp;
  /** The variable of its key; absent if it needs none. */
  readonly variable?: string;
}

const PLACES: Readonly<Record<MediaProvider, Place>> = {
  openai: { maker: openaiMedia, variable: 'OPENAI_API_KEY' },
  google: { maker: googleMedia, variable: 'GEMINI_API_KEY' },
  minimax: { maker: minimax, chatPath: /\/v1$/, variable: 'MINIMAX_API_KEY' },
  dashscope: {
    maker: dashscope,
    // Its own address for media ends in /api/v1.
    chatPath: /\/compatible-mode\/v1$|(?<!\/api)\/v1$/,
    variable: 'DASHSCOPE_API_KEY',
  },
  elevenlabs: { maker: elevenlabs, chatPath: /\/v1$/, variable: 'ELEVENLABS_API_KEY' },
  edge: { maker: edgeSpeech },
};

export interface MediaPlace {
  /** `provider/model`. */
  readonly ref: string;
  readonly maker: MediaMaker;
  readonly model: string;
  /** The key as in the settings; may be `secret://NAME`. Empty means none. */
  readonly key: string;
  readonly url: string;
  readonly isOwn: boolean;
}

export interface ProviderParts {
  readonly settings: MediaSettings;
  readonly providers: ModelsConfig['providers'];
}

/** Says in words why it cannot be called if it is not configured. */
export function placeOf({ settings, providers }: ProviderParts, ref: string): MediaPlace | string {
  const slash = ref.indexOf('/');
  const name = ref.slice(0, slash) as MediaProvider;
  const { maker, chatPath, variable } = PLACES[name];
  const usual = MEDIA_ADDRESSES[name];
  const isMediaOnly = name === 'elevenlabs' || name === 'edge';
  const config: ProviderConfig | undefined = isMediaOnly ? settings[name] : providers[name];
  const { apiKey, baseUrl } = config ?? {};
  const url = baseUrl === undefined ? usual : addressOf(baseUrl, usual, chatPath);
  const isOwn = new URL(url).host !== new URL(usual).host;
  // The user's own server with OpenAI's protocol may need none.
  if (variable !== undefined && apiKey === undefined && !(name === 'openai' && isOwn))
    return `no key is set: ${isMediaOnly ? 'media' : 'models.providers'}.${name}.apiKey, or ${variable}`;
  return { ref, maker, model: ref.slice(slash + 1), key: apiKey ?? '', url, isOwn };
}

function addressOf(baseUrl: string, usual: string, chatPath: RegExp | undefined): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  const own = chatPath ? path.replace(chatPath, '') : path;
  url.pathname = own === '' ? new URL(usual).pathname : own;
  return url.href.replace(/\/+$/, '');
}
