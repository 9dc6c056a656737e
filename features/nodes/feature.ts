import { defineFeature } from '#domain/feature.ts';

export const nodes = defineFeature({
  name: 'nodes',
  summary: 'Other machines that join and that agents use.',
  tools: [() => import('./tools/nodes.ts')],
  routes: [() => import('./routes/nodes.ts')],
});
