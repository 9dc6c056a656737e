import { defineFeature } from '#domain/feature.ts';

export const a2aClient = defineFeature({
  name: 'a2a-client',
  summary: 'Agents of other systems as tools, by the protocol A2A.',
  needs: ['artifacts'],
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  addedTools: () => import('./catalog.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'remote-agents',
      summary: 'agents of other systems: list, show, set, delete',
      load: async () => (await import('./resource.ts')).remoteAgents,
    },
  ],
});
