import { defineFeature } from '#domain/feature.ts';

export const evaluation = defineFeature({
  name: 'evaluation',
  summary: 'Rounds in which one agent makes a result and another judges it.',
  worker: () => import('./worker.ts'),
  workflows: [new URL('./workflow.ts', import.meta.url)],
  tools: [() => import('./tools/evaluate-loop.ts')],
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'evaluations',
      summary: 'rounds of making and judging: list, show, stop',
      load: async () => (await import('./resource.ts')).evaluations,
    },
  ],
});
