import { defineFeature } from '#domain/feature.ts';

export const handoffs = defineFeature({
  name: 'handoffs',
  summary: 'Conversations that an agent hands to another, which then has the messages of the chat.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/handoff.ts')],
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'handoffs',
      summary: 'chats that were handed to another agent: list, clear',
      load: async () => (await import('./resource.ts')).handoffs,
    },
  ],
});
