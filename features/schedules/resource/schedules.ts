/** Schedules: messages that an agent gets at future times, and how the runs went. */
import { z } from 'zod';
import { isMessageId } from '#domain/ids.ts';
import { labelSchema, nameSchema } from '#domain/schema/scalars.ts';
import {
  scheduleCreateSchema,
  schedulePatchSchema,
  scheduleRunSchema,
  scheduleSchema,
} from '../schema/schedule.ts';
import type { Columns, Flags } from '#domain/resource/command.ts';
import { defineResource } from '#domain/resource/define-resource.ts';

const flags = {
  message: ['--message <text>', 'what the agent is told'],
  cron: [
    '--cron <expression>',
    '"0 9 * * 1-5": minute hour day month weekday',
    { conflicts: ['every', 'at'] },
  ],
  zone: ['--zone <name>', 'of --cron: Europe/Berlin; UTC unless given', { needs: 'cron' }],
  every: ['--every <seconds>', 'in place of --cron', { kind: 'number', conflicts: ['at'] }],
  at: ['--at <time>', 'in place of --cron: once, 2026-05-01T09:00:00+02:00'],
  session: ['--session <key>', 'where it is said; a session of each run’s own unless given'],
  overlap: ['--overlap <what>', 'while an earlier run goes on', { choices: ['skip', 'allow'] }],
  catchup: ['--catchup <seconds>', 'a run that is later is left out', { kind: 'number' }],
} as const satisfies Flags;

type TimingFlags = { readonly [Name in keyof typeof flags]?: unknown };

function timingOf({ cron, zone, every, at }: TimingFlags) {
  if (cron !== undefined)
    return { kind: 'cron' as const, expr: String(cron), tz: zone === undefined ? 'UTC' : String(zone) };
  if (every !== undefined) return { kind: 'every' as const, every_seconds: Number(every) };
  return at === undefined ? undefined : { kind: 'at' as const, at: String(at) };
}

function nextRunLine({ id, next_runs: [next] }: z.output<typeof scheduleSchema>): string {
  return next === undefined ? `${id} does not run by itself` : `${id} runs next at ${next}`;
}

export const RUN_COLUMNS: Columns<z.output<typeof scheduleRunSchema>> = {
  at: 'at',
  status: 'status',
  session: (run) => run.session ?? '',
  answer: { flexible: (run) => run.text ?? run.reason ?? '' },
};

export const schedules = defineResource(
  {
    path: '/v1/schedules',
    tag: 'schedules',
    item: scheduleSchema,
    key: 'id',
    isKey: isMessageId,
    isDefinition: { except: ['message'] },
    missing: 'There is no schedule with this id',
    named: true,
  },
  ({ list, show, create, change }) => ({
    listSchedules: list({
      scope: 'read',
      summary: 'List schedules, newest first',
      query: { agent: nameSchema.optional(), name: labelSchema.optional() },
      command: {
        help: 'what agents are told at times to come',
        nothing: 'nothing is scheduled',
        flags: {
          agent: ['--agent <key>', 'of this agent only'],
          name: ['--name <name>', 'of this name'],
        },
        columns: {
          id: 'id',
          name: 'name',
          agent: 'agent',
          next: (row) => (row.enabled ? (row.next_runs[0] ?? 'over') : 'paused'),
          message: { flexible: 'message' },
        },
      },
    }),
    getSchedule: show({
      scope: 'read',
      summary: 'Get a schedule with its next five runs',
      command: {
        help: 'one, with its next five runs',
        fields: ({ schedule, links, next_runs: runs, ...row }) => ({
          ...row,
          ...schedule,
          next_runs: runs.join(' '),
          temporal: links.temporal,
        }),
      },
    }),
    createSchedule: create({
      scope: 'run',
      summary: 'Tell an agent something at times to come',
      description:
        'It is kept as a row and run by a Temporal Schedule. Runs have the rights of the key that makes it, as far as it has them still.',
      body: scheduleCreateSchema,
      refuses: ['NotFound', 'Conflict', 'Unprocessable'],
      command: {
        word: 'add',
        help: 'tell an agent something at times to come',
        arguments: ['name'],
        flags: {
          ...flags,
          message: ['--message <text>', 'what the agent is told', { required: true }],
          agent: ['--agent <key>', 'main unless given'],
          deleteAfterRun: ['--delete-after-run', 'remove it after its first run'],
        },
        sends: ({ name, agent, message = '', session, overlap, catchup, deleteAfterRun, ...when }) => ({
          name,
          agent,
          message,
          session,
          deliver: session === undefined ? undefined : ('session' as const),
          overlap,
          catchup_seconds: catchup,
          delete_after_run: deleteAfterRun === undefined ? undefined : true,
          schedule: timingOf(when) ?? { kind: 'cron', expr: '' },
        }),
        says: nextRunLine,
      },
    }),
    updateSchedule: change({
      scope: 'run',
      summary: 'Change, pause or resume a schedule',
      description: 'Runs that were due before are not made up for.',
      body: schedulePatchSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'update',
        help: 'change one; --pause and --resume',
        flags: {
          ...flags,
          pause: ['--pause', 'no run begins by itself', { conflicts: ['resume'] }],
          resume: ['--resume'],
        },
        sends: ({ message, session, overlap, catchup, pause, resume, ...when }) => ({
          message,
          session,
          overlap,
          catchup_seconds: catchup,
          enabled: pause === undefined ? (resume === undefined ? undefined : true) : false,
          schedule: timingOf(when),
        }),
        says: nextRunLine,
      },
    }),
  }),
  ({ remove, action, listOf }) => ({
    deleteSchedule: remove({
      scope: 'run',
      summary: 'Remove a schedule, and the list of its runs',
      gone: 'It runs no more; the sessions of its runs stay',
      command: { word: 'remove', help: 'remove one', says: (id) => `${id} runs no more` },
    }),
    runSchedule: action('run')({
      scope: 'run',
      repeatable: true,
      summary: 'Begin a run now, also while it is paused',
      body: z.strictObject({}),
      status: 202,
      answer: z.object({ id: z.string(), run: z.string(), workflow_id: z.string() }),
      command: {
        word: 'run',
        help: 'begin a run now',
        says: ({ id }) => `a run of ${id} begins; see: npx tempoclaw schedules runs ${id}`,
      },
    }),
    listScheduleRuns: listOf('runs', scheduleRunSchema, {
      scope: 'read',
      summary: 'List the runs of a schedule in the last 90 days, newest first',
      command: {
        help: 'how its runs went, newest first',
        columns: RUN_COLUMNS,
        nothing: 'no run yet',
      },
    }),
  }),
);
