import { defineFeature } from '#domain/feature.ts';
import { artifactsSettings } from './settings.ts';

export const artifacts = defineFeature({
  name: 'artifacts',
  summary: 'Files that people and models exchange, which messages and tools name artifact:ID.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  movedObjects: () => import('./moved-objects.ts'),
  settings: [artifactsSettings],
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'artifacts',
      summary: 'files that messages and tools name artifact:ID: put, get',
      load: () => import('./commands.ts'),
    },
  ],
});
