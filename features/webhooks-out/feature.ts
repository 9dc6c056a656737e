import { defineFeature } from '#domain/feature.ts';

export const webhooksOut = defineFeature({
  name: 'webhooks-out',
  summary: 'Events sent to other systems, signed and repeated until they are taken.',
  routes: [() => import('./routes.ts')],
});
