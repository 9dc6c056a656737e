import { defineFeature } from '#domain/feature.ts';

export const customTools = defineFeature({
  name: 'custom-tools',
  summary: 'Tools that a tenant makes of command lines.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  addedTools: () => import('./catalog.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes/custom-tools.ts')],
  subcommands: { tools: () => import('./commands.ts') },
});
