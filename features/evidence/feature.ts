import { defineFeature } from '#domain/feature.ts';
import { evidenceSettings } from './settings.ts';

export const evidence = defineFeature({
  name: 'evidence',
  summary: 'A signed chain for each tenant over calls and decisions, which is verified offline.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [evidenceSettings],
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'evidence',
      summary: 'the signed record of calls and decisions: show, export, verify',
      load: () => import('./commands/evidence.ts'),
    },
  ],
});
