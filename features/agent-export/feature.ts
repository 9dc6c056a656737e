import { defineFeature } from '#domain/feature.ts';

export const agentExport = defineFeature({
  name: 'agent-export',
  summary: 'An agent with its documents and skills as one file, and back.',
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'export',
      summary: 'an agent with its documents and skills as a file, on stdout',
      load: () => import('./commands/export.ts'),
    },
    {
      group: 'Agents and their work:',
      name: 'import',
      summary: 'an agent from such a file',
      load: () => import('./commands/import.ts'),
    },
  ],
});
