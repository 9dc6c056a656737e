import { defineFeature } from '#domain/feature.ts';
import { mailSettings } from './settings.ts';

export const mail = defineFeature({
  name: 'mail',
  summary: 'Approvals by mail.',
  needs: ['webhooks-out'],
  settings: [mailSettings],
  worker: () => import('./worker.ts'),
});
