import { defineFeature } from '#domain/feature.ts';

export const approvalLinks = defineFeature({
  name: 'approval-links',
  summary: 'Links with which one person decides one approval in a browser.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  api: () => import('./api.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes/approval-links.ts'), () => import('./routes/link-page.ts')],
  subcommands: { approvals: () => import('./commands.ts') },
});
