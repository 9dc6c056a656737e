import { defineFeature } from '#domain/feature.ts';

export const webhooksIn = defineFeature({
  name: 'webhooks-in',
  summary: 'Signed calls of other systems, each of which starts a message, a task or a run of a schedule.',
  needs: ['channels', 'schedules'],
  channelTypes: { webhook: () => import('./channel-type.ts') },
});
