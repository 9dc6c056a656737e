import { defineFeature } from '#domain/feature.ts';
import { nexusSettings } from './settings.ts';

export const nexus = defineFeature({
  name: 'nexus',
  summary: 'Turns as operations of Temporal Nexus, for workflows of other namespaces.',
  settings: [nexusSettings],
  worker: () => import('./worker.ts'),
  workflows: [new URL('./workflow.ts', import.meta.url)],
});
