/** Makes sound effects and speech with ElevenLabs, which answers with the sound itself. */
import { type MediaMaker, send } from './media-maker.ts';

const FORMAT = 'output_format=mp3_44100_128';
/** George, one of the voices that every account has. */
const VOICE = 'JBFqnCBsd6RMkjVDRZzb';

export const elevenlabs: MediaMaker = {
  async order(access, { model, request: { kind, prompt, seconds, voice = VOICE } }) {
    const [path, body] =
      kind === 'sound_effect'
        ? ['/v1/sound-generation', { text: prompt, duration_seconds: seconds, model_id: model }]
        : [`/v1/text-to-speech/${encodeURIComponent(voice)}`, { text: prompt, model_id: model }];
    const headers = { 'xi-api-key': access.key, accept: 'audio/mpeg' };
    const response = await send(access, `${path}?${FORMAT}`, { headers, body });
    return { bytes: new Uint8Array(await response.arrayBuffer()) };
  },
};
