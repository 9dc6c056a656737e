import { defineFeature } from '#domain/feature.ts';

export const secureCli = defineFeature({
  name: 'secure-cli',
  summary: 'Programs that run with credentials which no agent sees.',
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  tools: [() => import('./tools/credentialed-exec.ts')],
  routes: [() => import('./routes.ts'), () => import('./credential-routes.ts')],
  commands: [
    {
      group: 'Rules, tools and limits:',
      name: 'secure-clis',
      summary: 'programs that agents run with credentials: list, show, set, delete, credentials, own, logout',
      load: () => import('./commands.ts'),
    },
  ],
});
