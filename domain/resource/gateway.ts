/** The deployment for its operators. */
import { z } from 'zod';
import { jsonObjectSchema, timeSchema } from '../schema/scalars.ts';
import { defineResource, operation } from './define-resource.ts';

const path = '/v1/gateway';
const part = z.enum(['ok', 'away']);

export const statusSchema = z.object({
  version: z.string(),
  uptime_seconds: z.int().describe('Of the process that answers'),
  postgres: part,
  temporal: part,
  task_queue: z.string(),
  workers: z
    .array(z.object({ identity: z.string(), seen_at: timeSchema }))
    .describe('Processes that have asked Temporal for work in the last minutes'),
});

const gatewaySchema = statusSchema.extend({
  features: z
    .array(z.object({ name: z.string(), digest: z.string().describe('Identifies its files') }))
    .describe('Features of the installation’s own, in the process that answers'),
});

/** The installation at work. Parts of it that do not answer are missing. */
export const healthSchema = z.object({
  version: z.string().describe('Of the API process that answers'),
  postgres: part,
  temporal: part,
  workers: z
    .array(
      z.object({
        id: z.string(),
        version: z.string(),
        build: z.string().describe('Identifies the code of its workflows'),
        running: z.record(z.string(), z.int()).describe('Its activities that run, counted by their types'),
        seen_at: timeSchema,
      }),
    )
    .describe('Those that have said so in the last seconds'),
  queues: z.array(
    z.object({
      queue: z.string(),
      kind: z.enum(['workflow', 'activity']),
      waiting: z.int().describe('Tasks that no worker has taken, as Temporal estimates it'),
      oldest_seconds: z.int(),
    }),
  ),
  sweep: z
    .array(
      z.object({
        part: z.string(),
        ended_at: timeSchema,
        found: z.int(),
        failed: z.int().describe('How many of its works failed; a log of a worker says why'),
      }),
    )
    .describe('The last look of each part; there is one each minute'),
  disk: z
    .object({ free_bytes: z.number(), total_bytes: z.number() })
    .nullable()
    .describe('Of the state folder of the API process that answers; null without one'),
  database_bytes: z.number().nullable(),
});

const paths = z.array(z.string().meta({ examples: ['tools.deny'] }));

export const reloadedSchema = z.object({
  applied: paths,
  restart: paths.describe('Changed too, and in force after a restart'),
});

export const gateway = defineResource(
  { path, tag: 'service', item: statusSchema, key: 'id', missing: 'There is no such setting' },
  () => ({
    getGateway: operation({
      path,
      method: 'GET',
      scope: 'admin',
      summary: 'See what runs',
      description: 'For admins of the tenant `default`, as all of this.',
      answer: gatewaySchema,
      command: {
        word: 'status',
        help: 'version, workers, and whether Postgres and Temporal answer',
        isDefault: true,
        fields: ({ workers, features, ...status }) => ({
          ...status,
          workers: workers.map(({ identity }) => identity).join(' '),
          features: features.map(({ name }) => name).join(' ') || undefined,
        }),
      },
    }),
    getInstallationHealth: operation({
      path: `${path}/health`,
      method: 'GET',
      scope: 'admin',
      summary: 'See the workers and what they do, the backlog of queues, sweeps and the disk',
      answer: healthSchema,
      command: {
        word: 'health',
        help: 'workers and what they do, the backlog of queues, sweeps and the disk',
      },
    }),
    getSettings: operation({
      path: `${path}/config`,
      method: 'GET',
      scope: 'admin',
      summary: 'Get the settings in force in the process that answers, without secrets',
      query: z.strictObject({
        path: z
          .string()
          .max(300)
          .default('')
          .meta({ description: 'Of one: `models.default`', examples: ['tools.deny'] }),
      }),
      answer: z.object({ path: z.string(), value: z.union([jsonObjectSchema, z.unknown()]) }),
      refuses: ['NotFound'],
      command: {
        word: 'config',
        help: 'the settings in force, without secrets',
        arguments: ['path'],
        mayLackLast: true,
        says: ({ value }) => JSON.stringify(value, null, 2),
      },
    }),
    reloadSettings: operation({
      path: `${path}/reload`,
      method: 'POST',
      scope: 'admin',
      repeatable: true,
      summary: 'Read the settings again, in every process',
      description:
        'Answers for the process that was asked; the others follow, and log theirs. No turn is disturbed. Settings that cannot be used are refused whole.',
      body: z.strictObject({}),
      answer: reloadedSchema,
      command: {
        word: 'reload',
        help: 'read the settings again, in every process',
        says: ({ applied, restart }) =>
          [
            applied.length === 0 ? 'nothing was applied' : `applied: ${applied.join(', ')}`,
            ...(restart.length > 0 ? [`needs a restart: ${restart.join(', ')}`] : []),
          ].join('\n'),
      },
      refuses: ['Unprocessable'],
    }),
  }),
);
