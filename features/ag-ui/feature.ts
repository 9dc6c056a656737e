import { defineFeature } from '#domain/feature.ts';

export const agUi = defineFeature({
  name: 'ag-ui',
  summary: 'Agents for front ends that speak AG-UI 1.0, such as those with CopilotKit.',
  routes: [() => import('./routes/runs.ts')],
});
