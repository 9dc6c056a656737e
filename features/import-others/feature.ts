import { defineFeature } from '#domain/feature.ts';

export const importOthers = defineFeature({
  name: 'import-others',
  summary: 'Agents, skills, schedules, tools and channels from folders of GoClaw and clawft.',
  needs: ['agent-export', 'channels', 'custom-tools', 'mcp', 'projects', 'schedules', 'skills'],
  subcommands: { import: () => import('./command.ts') },
});
