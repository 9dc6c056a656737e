import { defineFeature } from '#domain/feature.ts';
import { oidcSettings } from './settings.ts';

export const oidc = defineFeature({
  name: 'oidc',
  summary: 'Tokens of identity providers in place of API keys.',
  settings: [oidcSettings],
  api: () => import('./api.ts'),
});
