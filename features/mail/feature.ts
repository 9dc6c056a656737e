import { defineFeature } from '#domain/feature.ts';

export const mail = defineFeature({
  name: 'mail',
  summary: 'Approvals by mail.',
});
