/** What the tool `cron` does: the schedules of the calling agent and its user, made with no more rights than the caller's turn has. */
import { Failure } from '#domain/errors.ts';
import type { NewSchedule, ScheduleRights } from '#domain/schedule.ts';
import type { RunningCall } from '#policy/define-tool.ts';
import type { Pool } from '#store/pool.ts';
import { type ListedRun, listRuns } from '#store/schedule-run-store.ts';
import { findSchedule, listSchedules, type ScheduleRow } from '#store/schedule-store.ts';
import { nextRuns, type ScheduleChange, type Schedules } from '#temporal/schedules.ts';

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

/** Throws Failures whose words are for the model. */
export interface OwnSchedules {
  add(call: Caller, job: Omit<NewSchedule, 'agent' | 'user'>): Promise<ShownSchedule>;
  change(call: Caller, id: string, change: ScheduleChange): Promise<ShownSchedule>;
  remove(call: Caller, id: string): Promise<void>;
  list(call: Caller): Promise<readonly ShownSchedule[]>;
  runNow(call: Caller, id: string): Promise<void>;
  runs(call: Caller, id: string): Promise<readonly ListedRun[]>;
}

/** Of one answer. */
const MOST = { schedules: 50, runs: 20 } as const;

export function createOwnSchedules(pool: Pool, schedules: Schedules): OwnSchedules {
  async function own({ tenant, agent, user }: Caller, id: string): Promise<ScheduleRow> {
    const row = await findSchedule(pool, tenant, id, { agent, user });
    if (row) return row;
    throw new Failure('NotFound', `there is no schedule ${id} of yours; list names those there are`);
  }
  return {
    async add(call, job) {
      const { tenant, agent, user } = call;
      const rights = await rightsOf(call);
      const maker = { tenant, user, by: `agent:${agent}`, rights, stem: call.callId };
      return shown(await schedules.add(maker, { ...job, agent }));
    },
    async change(call, id, change) {
      await own(call, id);
      const row = await schedules.change({ tenant: call.tenant, rights: await rightsOf(call) }, id, change);
      return row ? shown(row) : shown(await own(call, id));
    },
    async remove(call, id) {
      await own(call, id);
      await schedules.remove(call.tenant, id);
    },
    async list({ tenant, agent, user, origins }) {
      const rows = await listSchedules(pool, tenant, { agent, user }, MOST.schedules, undefined);
      await origins?.readSessions(rows.flatMap(({ rights }) => rights.session ?? []));
      return rows.map(shown);
    },
    async runNow(call, id) {
      await schedules.runNow(await own(call, id), call.tenant, call.callId);
    },
    async runs(call, id) {
      await own(call, id);
      return readRuns(call, await listRuns(pool, call.tenant, id, MOST.runs, undefined));
    },
  };
}

/** They say what was answered in their sessions. */
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
