/** Serves heartbeats, which are schedules with a kind of their own. */
import { randomUUID } from 'node:crypto';
import { fieldFailure } from '#domain/errors.ts';
import { HEARTBEAT_DEFAULTS, HEARTBEAT_LIMITS } from '../contract/heartbeat.ts';
import { heartbeats } from '../resource/heartbeats.ts';
import { scheduleIdOf } from '../contract/schedule.ts';
import { findAgent } from '#store/agent-store.ts';
import { findHeartbeat, type ScheduleRow } from '../store/schedule-store.ts';
import { findSession } from '#store/turns/session-store.ts';
import { readChecklist, setHeartbeat } from '../temporal/heartbeats.ts';
import { createSchedules, nextRuns } from '../temporal/schedules.ts';
import { userOf } from '#api/server/auth.ts';
import type { Api, ApiDeps } from '#api/deps.ts';
import { stemOf } from '#api/server/idempotency.ts';
import { type Call, serveResource } from '#api/serve-resource.ts';
import { createTemporalLink } from '#api/temporal-links.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { admitSession, pageOfRuns, rightsOf, runNow } from './schedules.ts';

type HeartbeatRequest = Pick<Call, 'caller' | 'tenant'> & {
  readonly params: { readonly agent: string };
  readonly query: { readonly user?: string | undefined };
};

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool, temporal, secrets, settings, models } = deps;
  const schedules = createSchedules({ pool, temporal, scrubberOf: secrets.vault.scrubberOf });
  const link = createTemporalLink(settings);
  const scheduleLink = createTemporalLink(settings, 'schedules');
  const find = ({ caller, tenant, params, query }: HeartbeatRequest): Promise<ScheduleRow | undefined> =>
    findHeartbeat(forTenant(pool, tenant), params.agent, userOf(caller, query.user) ?? null);

  async function show(tenant: string, row: ScheduleRow) {
    const { agent_key: agent, user_id: user, timing, message: prompt, session_key: session } = row;
    const { isEmpty } = await readChecklist(forTenant(pool, tenant), agent, user);
    return {
      ...row,
      agent,
      user,
      interval: timing.kind === 'every' ? timing.every_seconds : HEARTBEAT_LIMITS.usual,
      prompt,
      active_hours: null,
      model: null,
      ...(row.heartbeat ?? HEARTBEAT_DEFAULTS),
      session,
      checklist: isEmpty ? ('empty' as const) : ('written' as const),
      next_runs: nextRuns(row),
      links: { temporal: scheduleLink(scheduleIdOf(tenant, row.id)) },
    };
  }

  serveResource(app, heartbeats, {
    async getHeartbeat(request) {
      const row = await find(request);
      return row && show(request.tenant, row);
    },
    async setHeartbeat({ tenant, db, caller, by, params: { agent }, query, body, request }) {
      if (!(await findAgent(db, agent))) return undefined;
      const user = userOf(caller, query.user) ?? null;
      const session = body.session && (await findSession(db, body.session));
      // Another user's session does not count; the beats of the agent or another user would be refused there.
      if (session && (session.user_id !== user || session.agent_key !== agent))
        throw fieldFailure('Unprocessable', 'body/session', `${session.key} is another agent’s or user’s`);
      if (body.session && !session) await admitSession(deps, caller, body.session);
      const stem = stemOf(request, caller, 'heartbeat') ?? randomUUID();
      const maker = { tenant, agent, user, by, rights: rightsOf(caller), stem };
      return show(tenant, await setHeartbeat({ pool, schedules, models }, maker, body));
    },
    async deleteHeartbeat(request) {
      const row = await find(request);
      return row ? schedules.remove(request.tenant, row.id) : false;
    },
    async testHeartbeat(request) {
      const row = await find(request);
      return row && runNow(schedules, row, request.caller, request.request);
    },
    async listHeartbeatLogs(request) {
      const row = await find(request);
      return row && pageOfRuns(forTenant(pool, request.tenant), row.id, request.query, link);
    },
  });
}
