import { defineFeature } from '#domain/feature.ts';
import { consoleSettings } from './settings.ts';

export const webConsole = defineFeature({
  name: 'console',
  summary: 'The web console: its pages, and the sessions of the browsers that use it.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [consoleSettings],
  api: () => import('./api.ts'),
  routes: [
    () => import('./routes/links.ts'),
    () => import('./routes/login.ts'),
    () => import('./routes/files.ts'),
  ],
});
