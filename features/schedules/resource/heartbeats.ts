/**
 * Heartbeats: an agent has one for each of its users, and one for none. Commands:
 * features/schedules/commands/heartbeat.ts.
 */
import { z } from 'zod';
import { heartbeatChangeSchema, heartbeatSchema } from '../schema/heartbeat.ts';
import { labelSchema, nameSchema, pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { scheduleRunSchema } from '../schema/schedule.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const path = '/v1/agents/:agent/heartbeat';
const whose = {
  user: labelSchema
    .optional()
    .describe('Whose; a user’s key means its own, another the one of no user when absent'),
};
const one = { path, params: z.object({ agent: nameSchema }), query: z.strictObject(whose) };

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
    }),
    deleteHeartbeat: operation({
      ...one,
      method: 'DELETE',
      scope: 'run',
      summary: 'Remove a heartbeat, and its log; HEARTBEAT.md stays',
      answer: z.null(),
      status: 204,
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
    }),
    listHeartbeatLogs: operation({
      ...one,
      path: `${path}/logs`,
      method: 'GET',
      scope: 'read',
      summary: 'List the beats of the last 90 days, newest first',
      query: z.strictObject({ ...pageQuery, ...whose }),
      answer: pageSchema(scheduleRunSchema),
    }),
  }),
);
