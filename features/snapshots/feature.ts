import { defineFeature } from '#domain/feature.ts';

export const snapshots = defineFeature({
  name: 'snapshots',
  summary: 'Workspaces that follow the work: kept content-addressed, restored where the next step runs.',
  migrations: new URL('./migrations/', import.meta.url),
  workspaces: () => import('./create-workspaces.ts'),
});
