import { defineFeature } from '#domain/feature.ts';

export const recordings = defineFeature({
  name: 'recordings',
  summary: 'Sessions are recorded and replayed as tests, without models, tools or keys.',
  needs: ['projects'],
  migrations: new URL('./migrations/', import.meta.url),
  rows: () => import('./rows.ts'),
  worker: () => import('./worker.ts'),
  routes: [() => import('./routes.ts')],
  commands: [
    {
      group: 'Agents and their work:',
      name: 'record',
      summary: 'record a session, or sessions of an agent, as tests',
      takes: ['json', 'url', 'apiKey', 'stateDir'],
      load: () => import('./commands/record.ts'),
    },
    {
      group: 'Agents and their work:',
      name: 'test',
      summary: 'replay recordings, and name the first difference',
      takes: ['json', 'url', 'apiKey', 'stateDir'],
      load: () => import('./commands/test.ts'),
    },
    {
      group: 'Agents and their work:',
      name: 'what-if',
      summary: 'replay sessions under another model, prompt, policy or revision, and compare',
      takes: ['json', 'url', 'apiKey', 'stateDir'],
      load: () => import('./commands/what-if.ts'),
    },
    {
      group: 'Agents and their work:',
      name: 'eval',
      summary: 'run the evals of a folder of agents',
      takes: ['json', 'url', 'apiKey', 'stateDir'],
      load: () => import('./commands/eval.ts'),
    },
  ],
});
