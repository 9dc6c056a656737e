import { defineFeature } from '#domain/feature.ts';

export const customTools = defineFeature({
  name: 'custom-tools',
  summary: 'Tools that a tenant makes of command lines.',
  routes: [() => import('./routes/custom-tools.ts')],
  subcommands: { tools: () => import('./commands.ts') },
});
