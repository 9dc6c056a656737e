import { defineFeature } from '#domain/feature.ts';

export const schedules = defineFeature({
  name: 'schedules',
  summary: 'Messages at times to come, and the heartbeat.',
  tools: [() => import('./tools/cron.ts'), () => import('./tools/heartbeat.ts')],
  routes: [() => import('./routes/heartbeats.ts'), () => import('./routes/schedules.ts')],
});
