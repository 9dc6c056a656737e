/** Heartbeats: an agent has one for each of its users, and one for none. */
import { z } from 'zod';
import { heartbeatChangeSchema, heartbeatSchema } from '../schema/heartbeat.ts';
import { labelSchema, nameSchema, pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { scheduleRunSchema } from '../schema/schedule.ts';
import type { Flags } from '#domain/resource/command.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { RUN_COLUMNS } from './schedules.ts';

const path = '/v1/agents/:agent/heartbeat';
const whose = {
  user: labelSchema
    .optional()
    .describe('Whose; a user’s key means its own, another the one of no user when absent'),
};
const one = { path, params: z.object({ agent: nameSchema }), query: z.strictObject(whose) };

const user = { user: ['--user <user>', 'whose; that of no user when absent'] } as const satisfies Flags;

const changes = {
  interval: ['--every <seconds>', 'at least 300; 1800 unless given'],
  prompt: ['--prompt <text>', 'in place of the usual words; "" for those'],
  session: ['--session <key>', 'where it speaks; nowhere unless given, or with ""'],
  active_hours: ['--hours <from-to>', '08:00-22:00; "" for all times'],
  timezone: ['--zone <name>', 'of --hours: Europe/Berlin; UTC unless given'],
  model: ['--model <ref>', 'provider/model in place of the agent’s; "" for that one'],
  ack_max_chars: ['--ack-max-chars <n>', 'beside HEARTBEAT_OK in a quiet answer'],
  max_retries: ['--retries <n>', 'of a beat that has failed'],
  isolated_session: ['--isolated <yes-or-no>', 'each beat in a session of its own'],
  light_context: ['--light <yes-or-no>', 'HEARTBEAT.md is the only file of the prompt'],
  pause: ['--pause', 'no beat begins by itself', { conflicts: ['resume'] }],
  resume: ['--resume'],
} as const satisfies Flags;

export const heartbeats = defineResource(
  {
    path,
    tag: 'schedules',
    item: heartbeatSchema,
    key: 'agent',
    missing: 'There is no agent with this key, or it has no heartbeat for this user',
  },
  () => ({
    getHeartbeat: operation({
      ...one,
      method: 'GET',
      scope: 'read',
      summary: 'Get the heartbeat of an agent',
      answer: heartbeatSchema,
      command: {
        word: 'show',
        help: 'an agent’s',
        flags: user,
        fields: ({ links, next_runs: runs, ...row }) => ({
          ...row,
          next_runs: runs.join(' '),
          temporal: links.temporal,
        }),
      },
    }),
    setHeartbeat: operation({
      ...one,
      method: 'PATCH',
      scope: 'run',
      summary: 'Wake an agent at intervals, to go through its HEARTBEAT.md',
      description:
        'Makes it where there is none. Given fields replace the old ones; null removes an optional one. Beats have the rights of the key that set it last, as far as it has them still.',
      body: heartbeatChangeSchema,
      answer: heartbeatSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'set',
        help: 'wake an agent at intervals, or change how',
        flags: { ...user, ...changes },
        sends: ({ pause, resume, ...flags }) => ({
          ...Object.fromEntries(
            Object.entries(flags).map(([name, value]) => [name, value === '' ? null : value]),
          ),
          enabled: pause === undefined ? (resume === undefined ? undefined : true) : false,
        }),
        says: ({ agent, next_runs: [next], checklist }) =>
          `${agent} ${next === undefined ? 'is not woken by itself' : `is woken next at ${next}`}${checklist === 'empty' ? ', once its HEARTBEAT.md has something to do' : ''}`,
      },
    }),
    deleteHeartbeat: operation({
      ...one,
      method: 'DELETE',
      scope: 'run',
      summary: 'Remove a heartbeat, and its log; HEARTBEAT.md stays',
      answer: z.null(),
      status: 204,
      command: {
        word: 'remove',
        help: 'wake it no more',
        flags: user,
        answer: ({ agent }) => ({ agent, deleted: true }),
        says: (_answer, { agent }) => `${agent} is woken no more`,
      },
    }),
    testHeartbeat: operation({
      ...one,
      path: `${path}/test`,
      method: 'POST',
      scope: 'run',
      repeatable: true,
      summary: 'Begin a beat now, whatever its hours and pause',
      body: z.strictObject({}),
      status: 202,
      answer: z.object({ id: z.string(), run: z.string(), workflow_id: z.string() }),
      command: {
        word: 'test',
        help: 'begin a beat now',
        flags: user,
        says: (_answer, { agent }) => `a beat of ${agent} begins; see: tempoclaw heartbeat logs ${agent}`,
      },
    }),
    listHeartbeatLogs: operation({
      ...one,
      path: `${path}/logs`,
      method: 'GET',
      scope: 'read',
      summary: 'List the beats of the last 90 days, newest first',
      query: z.strictObject({ ...pageQuery, ...whose }),
      answer: pageSchema(scheduleRunSchema),
      command: {
        word: 'logs',
        help: 'how its beats went, newest first',
        flags: user,
        columns: RUN_COLUMNS,
        nothing: 'no beat yet',
      },
    }),
  }),
);
