import { defineFeature } from '#domain/feature.ts';

export const freeze = defineFeature({
  name: 'freeze',
  summary:
    'Calls of a tenant, an agent, one of its revisions or a tool are held back until somebody lifts that.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'freezes',
      summary: 'hold back the calls of agents or tools: list, create, lift',
      load: async () => (await import('./resource.ts')).freezes,
    },
  ],
});
