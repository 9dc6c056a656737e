import { defineFeature } from '#domain/feature.ts';
import { webhooksSettings } from './settings.ts';

export const webhooksOut = defineFeature({
  name: 'webhooks-out',
  summary: 'Events sent to other systems, signed and repeated until they are taken.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [webhooksSettings],
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts'), () => import('./notify-test.ts')],
  subcommands: { approvals: () => import('./commands.ts') },
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'webhooks',
      summary: 'where events are sent to: list, show, add, set, rotate, delete, redeliver',
      load: async () => (await import('./resource.ts')).webhooks,
    },
  ],
});
