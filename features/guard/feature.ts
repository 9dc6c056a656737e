import { defineFeature } from '#domain/feature.ts';

export const guard = defineFeature({
  name: 'guard',
  summary: 'Rules, approvals and a record for activities of workflows that people already have.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'guarded-calls',
      summary: 'calls of activities of your own workflows: list, show',
      load: async () => (await import('./resource.ts')).guardedCalls,
    },
  ],
});
