/**
 * The tasks of teams (TE-2 … TE-6), created and read; the actions on a task are in api/routes/team-tasks.ts. Commands:
 * cli/commands/team-tasks.ts.
 */
import { z } from 'zod';
import { nameSchema, pageQuery, pageSchema } from '../schema/scalars.ts';
import { taskCommentSchema, taskCreateSchema, taskFileSchema, taskSchema } from '../schema/team-task.ts';
import { TASK_FILTERS } from '../team-task.ts';
import { defineResource, operation } from './define-resource.ts';

const all = { path: '/v1/teams/:team/tasks', params: z.object({ team: z.string() }) };
const one = {
  method: 'GET',
  path: `${all.path}/:id`,
  params: all.params.extend({ id: z.string() }),
  scope: 'read',
} as const;

export const teamTasks = defineResource(
  {
    path: all.path,
    tag: 'teams',
    item: taskSchema,
    key: 'id',
    missing: 'There is no task with this id in this team',
  },
  () => ({
    listTeamTasks: operation({
      ...all,
      method: 'GET',
      scope: 'read',
      summary: 'List or search the tasks of a team, newest first',
      query: z.strictObject({
        ...pageQuery,
        status: z.enum(TASK_FILTERS).default('all').describe('`active`: not closed'),
        owner: nameSchema.optional().describe('Who has it or is to do it'),
        priority: z.coerce.number().int().optional(),
        q: z.string().min(1).max(500).optional().describe('Words of subject and description'),
      }),
      answer: pageSchema(taskSchema),
    }),
    getTeamTask: operation({ ...one, summary: 'Get a task with its result', answer: taskSchema }),
    createTeamTask: operation({
      ...all,
      method: 'POST',
      scope: 'run',
      summary: 'Make a task',
      description: 'Its member is woken at once, or when what it waits for is completed.',
      repeatable: true,
      findsFirst: true,
      body: taskCreateSchema,
      answer: taskSchema,
      status: 201,
      refuses: ['Forbidden'],
    }),
    listTaskComments: operation({
      ...one,
      path: `${one.path}/comments`,
      summary: 'What was said about a task, oldest first',
      query: z.strictObject(pageQuery),
      answer: pageSchema(taskCommentSchema),
    }),
    listTaskFiles: operation({
      ...one,
      path: `${one.path}/files`,
      summary: 'The files of a task',
      answer: z.object({ data: z.array(taskFileSchema) }),
    }),
    getTaskFile: operation({
      ...one,
      path: `${one.path}/files/:file`,
      params: one.params.extend({ file: z.string().max(200) }),
      summary: 'The content of a file, in base64',
      answer: z.object({ name: z.string(), content: z.string() }),
    }),
  }),
);
