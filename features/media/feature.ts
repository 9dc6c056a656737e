import { defineFeature } from '#domain/feature.ts';
import { mediaSettings } from './settings.ts';

export const media = defineFeature({
  name: 'media',
  summary: 'Images, speech and films that agents read and make.',
  needs: ['artifacts'],
  settings: [mediaSettings],
  worker: () => import('./worker.ts'),
  tools: [
    () => import('./tools/create-audio.ts'),
    () => import('./tools/create-image.ts'),
    () => import('./tools/create-video.ts'),
    () => import('./tools/read-audio.ts'),
    () => import('./tools/read-document.ts'),
    () => import('./tools/read-image.ts'),
    () => import('./tools/read-video.ts'),
    () => import('./tools/tts.ts'),
  ],
});
