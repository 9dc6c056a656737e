import { defineFeature } from '#domain/feature.ts';

export const hooks = defineFeature({
  name: 'hooks',
  summary: 'Commands, requests and models that judge calls and prompts.',
  worker: () => import('./worker.ts'),
});
