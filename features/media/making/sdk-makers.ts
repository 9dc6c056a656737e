/** Makes pictures and speech with OpenAI and Google, through `ai` and its providers; each request is sent once. */
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateImage, generateSpeech, type ImageModel } from 'ai';
import type { ImageRatio } from '../contract.ts';
import {
  type MediaAccess,
  type MediaAsk,
  type MediaMaker,
  MediaProblem,
  type Ordered,
} from './media-maker.ts';

/** The nearest sizes that its models have. */
const OPENAI_SIZES: Readonly<Record<ImageRatio, `${number}x${number}`>> = {
  '1:1': '1024x1024',
  '3:4': '1024x1536',
  '9:16': '1024x1536',
  '4:3': '1536x1024',
  '16:9': '1536x1024',
};
/** Characters that OpenAI speaks at once. */
const OPENAI_SPEECH = 4_096;
const OPENAI_VOICE = 'alloy';

const settingsOf = ({ key, base, fetch }: MediaAccess) => ({ apiKey: key, baseURL: base, fetch });

export const openaiMedia: MediaMaker = {
  async order(access, ask) {
    const { model, request } = ask;
    const openai = createOpenAI(settingsOf(access));
    if (request.kind === 'image') {
      const size = OPENAI_SIZES[request.ratio ?? '1:1'];
      return image(access, ask, openai.image(model), {
        size,
        providerOptions: { openai: { quality: 'medium' } },
      });
    }
    if (request.prompt.length > OPENAI_SPEECH)
      throw new MediaProblem('refused', `it speaks at most ${OPENAI_SPEECH} characters at once`);
    const { audio } = await generateSpeech({
      model: openai.speech(model),
      text: request.prompt,
      voice: request.voice ?? OPENAI_VOICE,
      outputFormat: 'mp3',
      maxRetries: 0,
      abortSignal: access.signal,
    });
    return { bytes: audio.uint8Array };
  },
};

export const googleMedia: MediaMaker = {
  order: (access, ask) =>
    image(access, ask, createGoogle(settingsOf(access)).image(ask.model), {
      aspectRatio: ask.request.ratio ?? '1:1',
    }),
};

async function image(
  { signal }: MediaAccess,
  { request }: MediaAsk,
  model: ImageModel,
  options: Pick<Parameters<typeof generateImage>[0], 'size' | 'aspectRatio' | 'providerOptions'>,
): Promise<Ordered> {
  const made = await generateImage({
    model,
    prompt: request.prompt,
    n: 1,
    maxRetries: 0,
    abortSignal: signal,
    ...options,
  });
  return { bytes: made.image.uint8Array };
}
