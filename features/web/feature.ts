import { defineFeature } from '#domain/feature.ts';

export const web = defineFeature({
  name: 'web',
  summary: 'Pages of the web, PDFs and office files as Markdown, and search engines.',
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/web-fetch.ts'), () => import('./tools/web-search.ts')],
});
