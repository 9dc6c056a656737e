/** Serves teams from their rows. */
import {
  changeTeam,
  deleteTeam,
  findTeam,
  insertTeam,
  listTeams,
  type TeamRow,
  type TeamWritten,
} from '#store/teams/team-store.ts';
import { listTaskEvents } from '#store/teams/team-task-store.ts';
import { Failure } from '#domain/errors.ts';
import { isName } from '#domain/ids.ts';
import { teams } from '#domain/resource/teams.ts';
import { taskIdOf } from '#domain/team/team.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { isNumberKeys, readPage, readTextPage } from '../../server/pages.ts';
import { serveResource } from '../../serve-resource.ts';

/** A team of another tenant and one that never existed get the same 404. */
export async function teamOr404({ pool }: ApiDeps, tenant: string, key: string): Promise<TeamRow> {
  const team = isName(key) ? await findTeam(forTenant(pool, tenant), key) : undefined;
  if (!team) throw new Failure('NotFound', teams.missing);
  return team;
}

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const shown = async (tenant: string, key: string) => teamOr404(deps, tenant, key);

  serveResource(
    app,
    teams,
    {
      listTeams: ({ db, query }) => readTextPage(query, 'key', (limit, after) => listTeams(db, limit, after)),
      getTeam: ({ tenant, params }) => shown(tenant, params.team),
      async createTeam({ tenant, db, by, body }) {
        const { key, lead, members, name = null, description = null, settings = {} } = body;
        const team = { key, lead, members: membersOf(lead, members), name, description, settings };
        demandWritten(await insertTeam(db, team, by), key, body);
        return shown(tenant, key);
      },
      async updateTeam({ tenant, db, params, body }) {
        const { key } = await teamOr404(deps, tenant, params.team);
        const written = await changeTeam(db, key, body);
        if (!written) return undefined;
        demandWritten(written, key, body);
        return shown(tenant, key);
      },
      async listTeamEvents({ tenant, db, params, query }) {
        const { key } = await teamOr404(deps, tenant, params.team);
        return readPage(
          query,
          (limit, after) => listTaskEvents(db, key, query.task, limit, after && Number(after[0])),
          (row) => [Number(row.id)],
          isNumberKeys(1),
          (row) => ({ ...row, task_id: taskIdOf(key, row.number) }),
        );
      },
      async deleteTeam({ tenant, db, params }) {
        const { key } = await teamOr404(deps, tenant, params.team);
        await deleteTeam(db, key);
        return true;
      },
    },
    ({ tenant }, key) => findTeam(forTenant(pool, tenant), key),
  );
}

/** The lead gets no tasks, so it is not a member. */
function membersOf(lead: string, members: readonly string[]): readonly string[] {
  if (members.includes(lead)) throw leadIsMember(lead, 'body/members');
  return [...new Set(members)];
}

function leadIsMember(lead: string, pointer: string): Failure {
  const message = `${lead} leads the team and cannot be a member of it; send members without it`;
  return new Failure('Unprocessable', message, { errors: [{ pointer, message }] });
}

function demandWritten(written: TeamWritten, key: string, sent: SentAgents): void {
  if (written.kind === 'taken') throw new Failure('Conflict', `There is a team "${key}" already`);
  if (written.kind === 'lead_is_member')
    throw leadIsMember(written.lead, sent.members ? 'body/members' : 'body/lead');
  if (written.kind !== 'unknown_agents') return;
  const { agents } = written;
  throw new Failure('Unprocessable', `There is no agent ${agents.map((one) => `"${one}"`).join(', ')}`, {
    errors: agents.map((one) => ({ pointer: placeOf(one, sent), message: `there is no agent ${one}` })),
  });
}

interface SentAgents {
  readonly lead?: string | undefined;
  readonly members?: readonly string[] | undefined;
}

function placeOf(agent: string, { lead, members = [] }: SentAgents): string {
  return agent === lead ? 'body/lead' : `body/members/${members.indexOf(agent)}`;
}
