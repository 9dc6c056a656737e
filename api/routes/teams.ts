/** Teams (TE-1): who leads, who works, and by which settings. */
import { z } from 'zod';
import {
  changeTeam,
  deleteTeam,
  findTeam,
  insertTeam,
  listTeams,
  type TeamRow,
  type TeamWritten,
} from '#store/team-store.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { pageQuery, pageSchema } from '#domain/schema/scalars.ts';
import { teamChangeSchema, teamCreateSchema, teamSchema } from '#domain/schema/team.ts';
import { callerOf, signatureOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { problems } from '../openapi.ts';
import { isTextKey, readPage } from '../pages.ts';

const teamParams = z.object({ team: z.string() });

export function addTeamRoutes(app: Api, deps: ApiDeps): void {
  addReads(app, deps);
  addCreate(app, deps);
  addChanges(app, deps);
}

/** One of another tenant and one that never was get the same 404. */
export async function teamOr404(deps: ApiDeps, tenant: string, key: string): Promise<TeamRow> {
  const team = isName(key) ? await findTeam(deps.pool, tenant, key) : undefined;
  if (!team) throw new Failure('NotFound', 'There is no team with this key');
  return team;
}

function addReads(app: Api, deps: ApiDeps): void {
  app.get(
    '/v1/teams',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['teams'],
        operationId: 'listTeams',
        summary: 'List teams by key',
        querystring: z.strictObject(pageQuery),
        response: { 200: pageSchema(teamSchema), ...problems() },
      },
    },
    async (request) =>
      readPage(
        request.query,
        (limit, after) => listTeams(deps.pool, callerOf(request).tenant, limit, after && String(after[0])),
        (row) => [row.key],
        showTeam,
        isTextKey,
      ),
  );

  app.get(
    '/v1/teams/:team',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['teams'],
        operationId: 'getTeam',
        summary: 'Get a team',
        params: teamParams,
        response: { 200: teamSchema, ...problems('NotFound') },
      },
    },
    async (request) => showTeam(await teamOr404(deps, callerOf(request).tenant, request.params.team)),
  );
}

function addCreate(app: Api, deps: ApiDeps): void {
  app.post(
    '/v1/teams',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['teams'],
        operationId: 'createTeam',
        summary: 'Make a team',
        body: teamCreateSchema,
        response: {
          201: teamSchema,
          ...problems('Conflict', 'Unprocessable'),
        },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const { key, lead, members, name = null, description = null, settings = {} } = request.body;
      const team = { key, lead, members: membersOf(lead, members), name, description, settings };
      demandWritten(await insertTeam(deps.pool, caller.tenant, team, signatureOf(caller)), key);
      return reply.code(201).send(showTeam(await teamOr404(deps, caller.tenant, key)));
    },
  );
}

function addChanges(app: Api, deps: ApiDeps): void {
  app.patch(
    '/v1/teams/:team',
    {
      config: { scope: 'admin' },
      preValidation: async (request) =>
        void (await teamOr404(deps, callerOf(request).tenant, (request.params as { team: string }).team)),
      schema: {
        tags: ['teams'],
        operationId: 'updateTeam',
        summary: 'Change a team',
        params: teamParams,
        body: teamChangeSchema,
        response: { 200: teamSchema, ...problems('NotFound', 'Unprocessable') },
      },
    },
    async (request) => {
      const { tenant } = callerOf(request);
      const { team: key } = request.params;
      const { members, ...change } = request.body;
      const now = await teamOr404(deps, tenant, key);
      const kept = membersOf(change.lead ?? now.lead, members ?? now.members);
      const written = await changeTeam(deps.pool, tenant, key, {
        ...change,
        members: members ? kept : undefined,
      });
      if (!written) throw new Failure('NotFound', 'There is no team with this key');
      demandWritten(written, key);
      return showTeam(await teamOr404(deps, tenant, key));
    },
  );

  app.delete(
    '/v1/teams/:team',
    {
      config: { scope: 'admin' },
      schema: {
        tags: ['teams'],
        operationId: 'deleteTeam',
        summary: 'Delete a team',
        description: 'Its tasks stay as rows; those that run go on to their end.',
        params: teamParams,
        response: { 204: z.null(), ...problems('NotFound') },
      },
    },
    async (request, reply) => {
      const { tenant } = callerOf(request);
      const { key } = await teamOr404(deps, tenant, request.params.team);
      await deleteTeam(deps.pool, tenant, key);
      return reply.code(204).send(null);
    },
  );
}

/** The lead gets no tasks, so it is no member. */
function membersOf(lead: string, members: readonly string[]): readonly string[] {
  if (members.includes(lead))
    throw new Failure(
      'Unprocessable',
      `${lead} leads the team and cannot be a member of it; send members without it`,
    );
  return [...new Set(members)];
}

function demandWritten(written: TeamWritten, key: string): void {
  if (written.kind === 'taken') throw new Failure('Conflict', `There is a team "${key}" already`);
  if (written.kind === 'unknown_agents')
    throw new Failure(
      'Unprocessable',
      `There is no agent ${written.agents.map((one) => `"${one}"`).join(', ')}`,
    );
}

function showTeam(row: TeamRow): z.infer<typeof teamSchema> {
  const { created_at, updated_at, settings, members, ...fields } = row;
  return {
    ...fields,
    members: [...members],
    settings: { ...settings },
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
