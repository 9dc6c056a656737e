import { defineFeature } from '#domain/feature.ts';

export const demo = defineFeature({
  name: 'demo',
  summary: 'A command that kills the worker and shows that turns are durable.',
  needs: ['local'],
  commands: [
    {
      group: 'Start and look after:',
      name: 'demo',
      summary: 'see for yourself: crash',
      load: () => import('./commands/demo.ts'),
    },
  ],
});
