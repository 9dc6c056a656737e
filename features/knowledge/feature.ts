import { defineFeature } from '#domain/feature.ts';

export const knowledge = defineFeature({
  name: 'knowledge',
  summary: 'What agents know of people, places and things, as a graph with dates.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  needs: ['memory'],
  worker: () => import('./worker.ts'),
  api: () => import('./api.ts'),
  tools: [() => import('./tools/knowledge-graph-search.ts')],
  routes: [() => import('./routes.ts'), () => import('./status-routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'knowledge',
      summary:
        'what agents know of people, places and things: entities, relations; list, show, set, merge, remove',
      load: () => import('./commands.ts'),
    },
  ],
});
