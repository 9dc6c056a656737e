import { defineFeature } from '#domain/feature.ts';

export const fork = defineFeature({
  name: 'fork',
  summary: 'A session is forked at any of its steps, with its files, and goes on from there.',
  needs: ['undo'],
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  workflows: [new URL('./workflow.ts', import.meta.url)],
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'fork',
      summary: 'go on from any step of a session in a copy of it and of its files',
      takes: ['json', 'url', 'apiKey', 'stateDir'],
      load: () => import('./commands/fork.ts'),
    },
  ],
});
