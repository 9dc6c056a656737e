import type { SharedOption } from '#cli/commands.ts';
import { defineFeature } from '#domain/feature.ts';

const group = 'Start and look after:';
const takes: readonly SharedOption[] = ['json', 'stateDir', 'config'];

export const local = defineFeature({
  name: 'local',
  summary: 'Postgres, Temporal, the worker and the API on one machine: started, looked after, backed up.',
  commands: [
    {
      group,
      name: 'up',
      summary: 'start Postgres, Temporal, the worker and the API on this machine',
      before: 'open',
      takes,
      load: async (features) => (await import('./commands/up.ts')).commandsFor(features),
    },
    {
      group,
      name: 'status',
      summary: 'what runs, where, since when; exit 1 when it is not ready',
      before: 'open',
      takes,
      load: () => import('./commands/status.ts'),
    },
    {
      group,
      name: 'logs',
      summary: 'the log of a part, or of all',
      before: 'api',
      takes: ['json', 'stateDir'],
      load: () => import('./commands/logs.ts'),
    },
    {
      group,
      name: 'env',
      summary: 'addresses and key for other programs: eval "$(npx tempoclaw env)"',
      before: 'api',
      takes: ['json', 'stateDir'],
      load: () => import('./commands/env.ts'),
    },
    {
      group,
      name: 'temporal',
      summary: "Temporal's own command line, at the server that runs here",
      before: 'reload',
      takes: [],
      load: () => import('./commands/temporal.ts'),
    },
    {
      group,
      name: 'doctor',
      summary: 'look for what a start needs; exit 1 when something needed is missing',
      before: 'reload',
      takes,
      load: async (features) => (await import('./commands/doctor.ts')).commandsFor(features),
    },
    {
      group,
      name: 'sandbox',
      summary: 'the box that agents’ commands run in: test',
      takes: ['json', 'config'],
      load: () => import('./commands/sandbox.ts'),
    },
  ],
});
