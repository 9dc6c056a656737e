import { defineFeature } from '#domain/feature.ts';
import { browserSettings } from './settings.ts';

export const browser = defineFeature({
  name: 'browser',
  summary: 'A real Chromium for each session, which an agent drives: pages, forms, files, screenshots.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [browserSettings],
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/browser.ts')],
});
