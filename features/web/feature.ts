import { defineFeature } from '#domain/feature.ts';
import { webSettings } from './settings.ts';

export const web = defineFeature({
  name: 'web',
  summary: 'Pages of the web, PDFs and office files as Markdown, and search engines.',
  settings: [webSettings],
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/web-fetch.ts'), () => import('./tools/web-search.ts')],
});
