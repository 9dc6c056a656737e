import { defineFeature } from '#domain/feature.ts';

export const codeTools = defineFeature({
  name: 'code-tools',
  summary: 'Tools written in TypeScript and Python, in processes of their own.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  addedTools: () => import('./catalog.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  subcommands: { tools: () => import('./commands.ts') },
});
