import { defineFeature } from '#domain/feature.ts';

export const undo = defineFeature({
  name: 'undo',
  summary: 'What the calls of a turn have done is reversed, newest first, each once.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  tools: [() => import('./tools/restore-file.ts')],
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'undo',
      summary: 'reverse what the calls of a turn have done: a plan, then its calls',
      takes: ['json', 'url', 'apiKey', 'stateDir'],
      load: () => import('./commands/undo.ts'),
    },
  ],
});
