import { defineFeature } from '#domain/feature.ts';

export const rollouts = defineFeature({
  name: 'rollouts',
  summary: 'The revisions of an agent: given to some sessions first, compared, and put back.',
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./revision-routes.ts'), () => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'rollouts',
      summary:
        'give a changed agent to some sessions first: list, show, start, set, finish, back, changes, compare',
      load: () => import('./commands.ts'),
    },
  ],
  subcommands: { agents: async () => (await import('./revisions-resource.ts')).agentRevisions },
});
