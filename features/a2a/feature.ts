import { defineFeature } from '#domain/feature.ts';

export const a2a = defineFeature({
  name: 'a2a',
  summary: 'Agents for other agents: cards and tasks of the protocol A2A.',
  needs: ['webhooks-out'],
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  routes: [
    () => import('./routes/agent-cards.ts'),
    () => import('./routes/json-rpc.ts'),
    () => import('./routes/http-json.ts'),
  ],
});
