import { defineFeature } from '#domain/feature.ts';
import { channelsSettings } from './settings.ts';

export const channels = defineFeature({
  name: 'channels',
  summary: 'Chat services that agents answer in.',
  needs: ['artifacts', 'webhooks-out'],
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [channelsSettings],
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/create-forum-topic.ts'), () => import('./tools/message.ts')],
  routes: [() => import('./routes/channel-inbound.ts'), () => import('./routes/channels.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'channels',
      summary: 'chat services that agents answer in: list, show, add, set, delete, pair, redeliver',
      load: async (features) => (await import('./resource.ts')).channelsOf(features),
    },
  ],
});
