import { defineFeature } from '#domain/feature.ts';

export const explain = defineFeature({
  name: 'explain',
  summary: 'What the rules would decide about a call, and other rules tried on recorded calls.',
  api: () => import('./api.ts'),
  routes: [
    () => import('./routes/explain.ts'),
    () => import('./routes/backtest.ts'),
    () => import('./routes/rule-proposals.ts'),
  ],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'explain',
      summary: 'what would be decided, by which rule, and what would change it',
      before: 'egress',
      takes: ['json', 'url', 'apiKey', 'stateDir', 'config'],
      load: () => import('./commands/explain.ts'),
    },
  ],
  subcommands: { policy: () => import('./commands/policy.ts') },
});
