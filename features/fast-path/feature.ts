import { defineFeature } from '#domain/feature.ts';

export const fastPath = defineFeature({
  name: 'fast-path',
  summary: 'Fewer round trips for the same steps of a turn.',
  worker: () => import('./worker.ts'),
  workflows: [new URL('./workflow.ts', import.meta.url)],
});
