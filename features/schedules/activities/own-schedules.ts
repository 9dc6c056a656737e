/**
 * What the tool `cron` does: it manages the schedules of the calling agent and its user, with no more rights than the
 * caller's turn has.
 */
import { Failure } from '#domain/errors.ts';
import type { ScheduleRights } from '../contract/schedule.ts';
import type { NewSchedule } from '../schema/schedule.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { type ListedRun, listRuns } from '../store/schedule-run-store.ts';
import { findSchedule, listSchedules, type ScheduleRow } from '../store/schedule-store.ts';
import { nextRuns, type ScheduleChange, type Schedules } from '../temporal/schedules.ts';

type Caller = Pick<
  RunningCall,
  | 'tenant'
  | 'agent'
  | 'user'
  | 'key'
  | 'roles'
  | 'offeredTools'
  | 'callId'
  | 'sessionKey'
  | 'channel'
  | 'chatId'
  | 'origins'
>;

export type { ScheduleChange };

export type ShownSchedule = Pick<ScheduleRow, 'id' | 'name' | 'timing' | 'message' | 'enabled'> & {
  readonly session: string | null;
  readonly delete_after_run: boolean;
  readonly next_runs: readonly string[];
};

/**
 * A schedule is found by its id, or else by its name among those of the agent and its user. Throws Failures whose words
 * are for the model.
 */
export interface OwnSchedules {
  add(call: Caller, job: Omit<NewSchedule, 'agent' | 'user'>): Promise<ShownSchedule>;
  change(call: Caller, named: string, change: ScheduleChange): Promise<ShownSchedule>;
  remove(call: Caller, named: string): Promise<void>;
  list(call: Caller): Promise<readonly ShownSchedule[]>;
  find(call: Caller, named: string): Promise<ShownSchedule>;
  runNow(call: Caller, named: string): Promise<void>;
  runs(call: Caller, named: string): Promise<readonly ListedRun[]>;
}

/** Limits of one answer. */
const LIMITS = { schedules: 50, runs: 20 } as const;

export function createOwnSchedules(pool: Pool, schedules: Schedules): OwnSchedules {
  async function own({ tenant, agent, user }: Caller, named: string): Promise<ScheduleRow> {
    const db = forTenant(pool, tenant);
    const row =
      (await findSchedule(db, named, { agent, user })) ??
      (await listSchedules(db, { agent, user, name: named }, 1, undefined))[0];
    if (row) return row;
    throw new Failure('NotFound', `there is no schedule ${named} of yours; list names those there are`);
  }
  return {
    async add(call, job) {
      const { tenant, agent, user } = call;
      const rights = await rightsOf(call);
      const maker = { tenant, user, by: `agent:${agent}`, rights, stem: call.callId };
      return shown(await schedules.add(maker, { ...job, agent }));
    },
    async change(call, named, change) {
      const { id } = await own(call, named);
      const row = await schedules.change({ tenant: call.tenant, rights: await rightsOf(call) }, id, change);
      return row ? shown(row) : shown(await own(call, id));
    },
    async remove(call, named) {
      await schedules.remove(call.tenant, (await own(call, named)).id);
    },
    async list({ tenant, agent, user, origins }) {
      const rows = await listSchedules(forTenant(pool, tenant), { agent, user }, LIMITS.schedules, undefined);
      await origins?.readSessions(rows.flatMap(({ rights }) => rights.session ?? []));
      return rows.map(shown);
    },
    find: async (call, named) => shown(await own(call, named)),
    async runNow(call, named) {
      await schedules.runNow(await own(call, named), call.tenant, call.callId);
    },
    async runs(call, named) {
      const { id } = await own(call, named);
      return readRuns(call, await listRuns(forTenant(pool, call.tenant), id, LIMITS.runs, undefined));
    },
  };
}

/** Includes what was answered in their sessions. */
export async function readRuns(
  { origins }: Pick<Caller, 'origins'>,
  runs: readonly ListedRun[],
): Promise<readonly ListedRun[]> {
  await origins?.readSessions(runs.flatMap((run) => run.session_key ?? []));
  return runs;
}

/** What its turn may do, and the session whose words count for what it makes. */
export async function rightsOf(call: Caller): Promise<ScheduleRights> {
  return {
    key: call.key,
    roles: call.roles,
    allowed_tools: await call.offeredTools(),
    session: call.sessionKey,
    channel: call.channel ?? undefined,
    chat_id: call.chatId ?? undefined,
  };
}

function shown(row: ScheduleRow): ShownSchedule {
  const { id, name, timing, message, enabled, session_key: session, delete_after_run } = row;
  return { id, name, timing, message, enabled, session, delete_after_run, next_runs: nextRuns(row) };
}
