import { defineFeature } from '#domain/feature.ts';

export const acp = defineFeature({
  name: 'acp',
  summary: 'Agents in code editors that speak the Agent Client Protocol (ACP).',
  commands: [
    {
      group: 'Talk:',
      name: 'acp',
      summary: 'serve agents to a code editor that starts this command and speaks ACP on stdio',
      load: () => import('./commands/acp.ts'),
    },
  ],
});
