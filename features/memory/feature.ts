import { defineFeature } from '#domain/feature.ts';

export const memory = defineFeature({
  name: 'memory',
  summary:
    'What agents remember: documents in pieces, found by words and vectors, and what conversations tell.',
  migrations: new URL('./migrations/', import.meta.url),
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  tools: [
    () => import('./tools/memory-get.ts'),
    () => import('./tools/memory-read.ts'),
    () => import('./tools/memory-search.ts'),
    () => import('./tools/memory-write.ts'),
    () => import('./tools/restore-memory.ts'),
  ],
  workflows: [new URL('./workflow.ts', import.meta.url)],
  routes: [() => import('./routes.ts')],
});
