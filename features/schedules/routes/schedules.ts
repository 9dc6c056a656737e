/** Serves schedules from their rows; a Temporal Schedule follows each. */
import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { Failure } from '#domain/errors.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { schedules as resource } from '../resource/schedules.ts';
import { scheduleIdOf } from '../contract/schedule.ts';
import { type ListedRun, listRuns } from '../store/schedule-run-store.ts';
import { findSchedule, listSchedules, type ScheduleRow } from '../store/schedule-store.ts';
import { findSession } from '#store/turns/session-store.ts';
import { createSchedules, nextRuns, type Schedules } from '../temporal/schedules.ts';
import { type Caller, userOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { stemOf } from '#api/server/idempotency.ts';
import { type PageQuery, readCreatedPage, readTimePage } from '#api/server/pages.ts';
import { requireAgents } from '#api/require-agents.ts';
import { serveResource } from '#api/serve-resource.ts';
import { createTemporalLink, type TemporalLink } from '#api/temporal-links.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, temporal, secrets, settings } = deps;
  const schedules = createSchedules({ pool, temporal, scrubberOf: secrets.vault.scrubberOf });
  const link = createTemporalLink(settings);
  const scheduleLink = createTemporalLink(settings, 'schedules');
  const find = ({ tenant, confinedTo }: Caller, id: string): Promise<ScheduleRow | undefined> =>
    findSchedule(forTenant(pool, tenant), id, { user: confinedTo ?? undefined });
  const show = (tenant: string, row: ScheduleRow) =>
    showSchedule(row, scheduleLink(scheduleIdOf(tenant, row.id)));

  /** For a user's key, another user's session does not exist. */
  async function checkSession(caller: Caller, key: string | null | undefined): Promise<void> {
    const { tenant, confinedTo } = caller;
    if (!key || confinedTo === null) return;
    const session = await findSession(forTenant(pool, tenant), key);
    if (!session) await admitSession(deps, caller, key);
    else if (session.user_id !== confinedTo)
      throw new Failure('NotFound', 'There is no session with this key');
  }

  serveResource(
    app,
    resource,
    {
      listSchedules: ({ tenant, db, caller, query }) =>
        readCreatedPage(
          query,
          (limit, after) =>
            listSchedules(
              db,
              { agent: query.agent, name: query.name, user: caller.confinedTo ?? undefined },
              limit,
              after,
            ),
          (row) => show(tenant, row),
        ),
      async getSchedule({ tenant, caller, params }) {
        const row = await find(caller, params.id);
        return row && show(tenant, row);
      },
      async createSchedule({ tenant, db, caller, by, body, request }) {
        await checkSession(caller, body.session);
        await requireAgents(db, [['body/agent', body.agent]]);
        const maker = {
          tenant,
          by,
          user: userOf(caller, body.user) ?? null,
          rights: rightsOf(caller),
          stem: stemOf(request, caller, 'schedule') ?? randomUUID(),
        };
        return show(tenant, await schedules.add(maker, body));
      },
      async updateSchedule({ tenant, caller, params, body: { revision, ...change } }) {
        await checkSession(caller, change.session);
        const row = await schedules.change({ tenant, rights: rightsOf(caller) }, params.id, (old) => {
          refuseOtherRevision(old, revision);
          return change;
        });
        return row && show(tenant, row);
      },
      deleteSchedule: async ({ tenant, caller, params }) =>
        (await find(caller, params.id)) ? schedules.remove(tenant, params.id) : false,
      async runSchedule({ caller, params, request }) {
        const row = await find(caller, params.id);
        return row && runNow(schedules, row, caller, request);
      },
      listScheduleRuns: ({ db, params, query }) => pageOfRuns(db, params.id, query, link),
    },
    find,
  );
}

/** Its runs make the session, which may be one that only others make. @throws Failure Forbidden */
export async function admitSession(deps: ApiDeps, caller: Caller, session: string): Promise<void> {
  const { tenant, confinedTo } = caller;
  await deps.admitMessage(tenant, { id: randomUUID(), session, context: {}, confinedTo });
}

function refuseOtherRevision(old: ScheduleRow, revision: number | undefined): void {
  if (revision !== undefined && revision !== old.revision)
    throw new Failure(
      'Conflict',
      `The schedule has revision ${old.revision} now, not ${revision}; read it again`,
    );
}

export const rightsOf = ({ keyId, scopes }: Caller) => ({ key: keyId, roles: [...scopes] });

function showSchedule(row: ScheduleRow, temporal: string | null) {
  const { session_key: session } = row;
  return {
    ...row,
    agent: row.agent_key,
    user: row.user_id,
    schedule: row.timing,
    deliver: session === null ? ('none' as const) : ('session' as const),
    session,
    allowed_tools: row.rights.allowed_tools,
    next_runs: nextRuns(row),
    links: { temporal },
  };
}

/** Starts a run immediately. */
export async function runNow(
  schedules: Schedules,
  row: ScheduleRow,
  caller: Caller,
  request: FastifyRequest,
): Promise<{ id: string; run: string; workflow_id: string }> {
  const { id } = row;
  const key = stemOf(request, caller, 'run', id) ?? randomUUID();
  const run = await schedules.runNow(row, caller.tenant, key);
  return { id, run, workflow_id: `${scheduleIdOf(caller.tenant, id)}/${run}` };
}

/** Newest first, each with a link to its turn. */
export function pageOfRuns(db: TenantDb, id: string, query: PageQuery, link: TemporalLink) {
  return readTimePage(
    query,
    (limit, after) => listRuns(db, id, limit, after),
    (row) => [row.created_text, row.key],
    (row) => showRun(row, row.session_key && link(sessionWorkflowId(db.tenant, row.session_key), row.run_id)),
  );
}

function showRun(row: ListedRun, temporal: string | null) {
  const { state } = row;
  const isOver = state !== null && state !== 'started';
  return {
    ...row,
    status: isOver ? state : (row.turn_status ?? state ?? ('starting' as const)),
    session: row.session_key,
    links: { temporal },
  };
}
