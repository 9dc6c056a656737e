import { defineFeature } from '#domain/feature.ts';

export const canvas = defineFeature({
  name: 'canvas',
  summary: 'A page of HTML beside the conversation, which an agent shows and people see and use by a link.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/canvas.ts')],
  routes: [() => import('./routes/canvas.ts')],
  subcommands: { sessions: async () => (await import('./resource.ts')).canvasLinks },
});
