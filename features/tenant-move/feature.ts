import { defineFeature } from '#domain/feature.ts';

export const tenantMove = defineFeature({
  name: 'tenant-move',
  summary: 'A tenant with all that it has as one sealed file, and into another installation.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  subcommands: { tenants: async (features) => (await import('./commands.ts')).tenantCommands(features) },
});
