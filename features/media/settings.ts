/** Settings for making and reading media. */
import { z } from 'zod';
import { defineSection } from '#config/section.ts';
import { mediaSchema } from './schema.ts';
const schema = mediaSchema.prefault({});

declare module '#config/section.ts' {
  interface FeatureSettings {
    readonly media: z.output<typeof schema>;
  }
}

export const mediaSettings = defineSection({
  name: 'media',
  schema,
  variables: [
    [['ELEVENLABS_API_KEY'], 'media.elevenlabs.apiKey', 'text'],
    [['ELEVENLABS_BASE_URL'], 'media.elevenlabs.baseUrl', 'text'],
    [['EDGE_TTS_BASE_URL'], 'media.edge.baseUrl', 'text'],
  ],
  secrets: ({ elevenlabs }) => [elevenlabs.apiKey],
});
