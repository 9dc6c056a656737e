import { defineFeature } from '#domain/feature.ts';
import { telemetrySettings } from './settings.ts';

export const telemetry = defineFeature({
  name: 'telemetry',
  summary: 'Traces and metrics of turns for OpenTelemetry, made from their rows.',
  migrations: new URL('./migrations/', import.meta.url),
  settings: [telemetrySettings],
  rows: () => import('./rows.ts'),
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
});
