/** What was done to a team's tasks, by whom, when and why (TE-4): audit events, comments, files. */
import { z } from 'zod';
import {
  listComments,
  listFiles,
  listTaskEvents,
  readFileBytes,
  type TaskEventRow,
} from '#store/team-task-store.ts';
import { Failure } from '#domain/errors.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { taskCommentSchema, taskEventSchema, taskFileSchema } from '#domain/schema/team-task.ts';
import { taskIdOf } from '#domain/team.ts';
import { callerOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { isNumberKeys, readPage, readTimePage } from '../pages.ts';
import { taskOr404 } from './team-tasks.ts';
import { teamOr404 } from './teams.ts';

const taskParams = z.object({ team: z.string(), id: z.string() });

export function addRoutes(app: Api, deps: ApiDeps): void {
  addEvents(app, deps);
  addComments(app, deps);
  addFiles(app, deps);
}

function addEvents(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/teams/:team/events',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['teams'],
        operationId: 'listTeamEvents',
        summary: 'What was done to the tasks of a team, newest first',
        params: z.object({ team: z.string() }),
        querystring: z.strictObject({
          ...pageQuery,
          task: z.coerce.number().int().min(1).optional().meta({ description: 'Number of one task' }),
        }),
        response: { 200: pageSchema(taskEventSchema), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const { key } = await teamOr404(deps, tenant, request.params.team);
      return readPage(
        request.query,
        (limit, after) =>
          listTaskEvents(deps.pool, tenant, key, request.query.task, limit, after && Number(after[0])),
        (row) => [Number(row.id)],
        (row) => showEvent(key, row),
        isNumberKeys(1),
      );
    },
  );
}

function addComments(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/teams/:team/tasks/:id/comments',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['teams'],
        operationId: 'listTaskComments',
        summary: 'What was said about a task, oldest first',
        params: taskParams,
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(taskCommentSchema), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const team = await teamOr404(deps, tenant, request.params.team);
      const { number } = await taskOr404(deps, team, tenant, request.params.id);
      return readTimePage(
        request.query,
        (limit, after) => listComments(deps.pool, [tenant, team.key, number], limit, after),
        (row) => [row.created_text, row.id],
        ({ created_at, id, kind, author, text }) => ({
          id,
          kind,
          author,
          text,
          created_at: created_at.toISOString(),
        }),
      );
    },
  );
}

function addFiles(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/teams/:team/tasks/:id/files',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['teams'],
        operationId: 'listTaskFiles',
        summary: 'The files of a task',
        params: taskParams,
        response: { 200: z.object({ data: z.array(taskFileSchema) }), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const team = await teamOr404(deps, tenant, request.params.team);
      const { number } = await taskOr404(deps, team, tenant, request.params.id);
      const rows = await listFiles(deps.pool, [tenant, team.key, number]);
      return { data: rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })) };
    },
  );

  app.get(
    '/v1/teams/:team/tasks/:id/files/:file',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['teams'],
        operationId: 'getTaskFile',
        summary: 'The content of a file, in base64',
        params: z.object({ team: z.string(), id: z.string(), file: z.string().max(200) }),
        response: { 200: z.object({ name: z.string(), content: z.string() }), ...problems('NotFound') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const team = await teamOr404(deps, tenant, request.params.team);
      const { number } = await taskOr404(deps, team, tenant, request.params.id);
      const found = await readFileBytes(deps.pool, [tenant, team.key, number], request.params.file);
      if (!found) throw new Failure('NotFound', 'There is no such file at this task');
      return { name: found.name, content: found.bytes.toString('base64') };
    },
  );
}

function showEvent(team: string, row: TaskEventRow): z.infer<typeof taskEventSchema> {
  return {
    ...row,
    id: Number(row.id),
    task_id: taskIdOf(team, row.number),
    at: row.at.toISOString(),
  };
}
