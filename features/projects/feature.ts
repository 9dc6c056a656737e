import { defineFeature } from '#domain/feature.ts';

export const projects = defineFeature({
  name: 'projects',
  summary:
    'A folder of agents, skills, schedules, tools, hooks and features, which is developed and deployed.',
  needs: ['code-tools', 'local', 'schedules', 'skills'],
  commands: [
    {
      group: 'Start and look after:',
      name: 'init',
      summary: 'make a folder with an agent and a tool to begin with',
      takes: [],
      load: () => import('./commands/init.ts'),
    },
    {
      group: 'Start and look after:',
      name: 'dev',
      summary: 'run the agents and tools of a folder, and follow its changes',
      load: () => import('./commands/dev.ts'),
    },
    {
      group: 'Start and look after:',
      name: 'deploy',
      summary: 'bring the agents, skills, schedules, tools and hooks of a folder to an installation',
      load: () => import('./commands/deploy.ts'),
    },
    {
      group: 'Start and look after:',
      name: 'features',
      summary: 'features of this build and of your own: list',
      takes: ['json'],
      load: async (features) => (await import('./commands/features.ts')).commandsFor(features),
    },
  ],
});
