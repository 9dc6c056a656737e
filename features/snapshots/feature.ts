import { defineFeature } from '#domain/feature.ts';

export const snapshots = defineFeature({
  name: 'snapshots',
  summary: 'Workspaces that follow the work: kept content-addressed, restored where the next step runs.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  movedObjects: () => import('./moved-objects.ts'),
  workspaces: () => import('./create-workspaces.ts'),
});
