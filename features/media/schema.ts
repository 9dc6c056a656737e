/** Which providers make pictures, sounds, videos and speech, in the settings. */
import { z } from 'zod';
import { MEDIA_PROVIDERS } from './contract.ts';
import { httpUrl, type Kept } from '#domain/schema/scalars.ts';

const ref = z
  .string()
  .max(300)
  .regex(
    new RegExp(`^(?:${MEDIA_PROVIDERS.join('|')})/\\S+$`),
    `must be provider/model, the provider one of ${MEDIA_PROVIDERS.join(', ')}`,
  );
const chain = z.array(ref).min(1).max(10).exactOptional();

export const mediaSchema = z.strictObject({
  /** For each kind, the models that are called, the next one if one cannot do it. */
  image: chain,
  music: chain,
  sound_effect: chain,
  video: chain,
  speech: chain,
  /** Prices by `provider/model`; they override the known prices. */
  prices: z
    .record(
      ref,
      z.strictObject({
        usd: z.number().min(0).max(100_000),
        per: z.enum(['piece', 'second', 'million_characters']),
      }),
    )
    .default({}),
  /** The key may be `secret://NAME`. Keys of the other providers are in `models.providers`. */
  elevenlabs: z
    .strictObject({
      apiKey: z.string().min(1).max(4_096).exactOptional(),
      baseUrl: httpUrl.exactOptional(),
    })
    .prefault({}),
  edge: z.strictObject({ baseUrl: httpUrl.exactOptional() }).prefault({}),
});
export type MediaSettings = Kept<typeof mediaSchema>;
