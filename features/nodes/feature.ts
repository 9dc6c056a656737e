import { defineFeature } from '#domain/feature.ts';

export const nodes = defineFeature({
  name: 'nodes',
  summary: 'Other machines that join and that agents use.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/nodes.ts')],
  routes: [() => import('./routes/nodes.ts')],
  commands: [
    {
      group: 'Start and look after:',
      name: 'node',
      summary: 'join another TempoClaw as a machine that its agents use',
      takes: ['url', 'stateDir'],
      load: () => import('./commands/node.ts'),
    },
    {
      group: 'Rules, tools and limits:',
      name: 'nodes',
      summary: 'other machines that agents use: list, show, invite, rename, delete',
      load: async () => (await import('./resource.ts')).nodes,
    },
  ],
});
