import { defineFeature } from '#domain/feature.ts';

export const schedules = defineFeature({
  name: 'schedules',
  summary: 'Messages at times to come, and the heartbeat.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  workflows: [new URL('./workflow.ts', import.meta.url)],
  tools: [() => import('./tools/cron.ts'), () => import('./tools/heartbeat.ts')],
  routes: [() => import('./routes/heartbeats.ts'), () => import('./routes/schedules.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'schedules',
      summary: 'what agents are told at times to come: list, show, add, update, remove, run, runs',
      load: async () => (await import('./resource/schedules.ts')).schedules,
    },
    {
      group: 'Agents and their work:',
      name: 'heartbeat',
      summary: 'waking an agent to go through its HEARTBEAT.md: show, set, remove, test, logs',
      load: async () => (await import('./resource/heartbeats.ts')).heartbeats,
    },
  ],
});
