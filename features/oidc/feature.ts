import { defineFeature } from '#domain/feature.ts';
import { oidcSettings } from './settings.ts';

export const oidc = defineFeature({
  name: 'oidc',
  summary: 'Tokens of identity providers in place of API keys, and logins to the console with them.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  settings: [oidcSettings],
  api: () => import('./api.ts'),
  routes: [() => import('./routes/login.ts')],
});
