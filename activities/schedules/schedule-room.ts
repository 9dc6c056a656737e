/** The room of schedules: a run begins, once, with the rights of then and now; and what the tool does to them. */
import { createHash } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import {
  SCHEDULE_LIMITS,
  type ScheduleActivities,
  type ScheduledMessageInput,
  type ScheduledRun,
} from '#domain/schedule.ts';
import { nextInstants } from '#domain/schedule/instants.ts';
import type { CallRules } from '#policy/call-rules.ts';
import type { AgentCatalogs } from '#policy/custom-tools/agent-catalogs.ts';
import { endRun, rolesNow, takeRun } from '#store/schedule-run-store.ts';
import { findSchedule, type ScheduleRow } from '#store/schedule-store.ts';
import { findRulesOfAgent } from '#store/tenant-policy-store.ts';
import { createSchedules, type ScheduleParts, type Schedules } from '#temporal/schedules.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';
import type { RoomDeps } from '../room-deps.ts';
import type { WakeSession } from '../turn/wake-session.ts';
import { createOwnSchedules, type OwnSchedules } from './own-schedules.ts';

export interface ScheduleRoomParts extends RoomDeps, ScheduleParts {
  readonly wake: WakeSession;
  readonly rules: Pick<CallRules, 'offered'>;
  readonly catalogs: AgentCatalogs;
}

export function createScheduleRoom(parts: ScheduleRoomParts): {
  readonly activities: ScheduleActivities;
  readonly tools: { readonly schedules: OwnSchedules };
  readonly schedules: Schedules;
} {
  const schedules = createSchedules(parts);
  return {
    activities: {
      start_scheduled_run: failingAs(activityFailure, (input) => startRun(parts, schedules, input)),
    },
    tools: { schedules: createOwnSchedules(parts.pool, schedules) },
    schedules,
  };
}

/** Its place in the rows, then its message, then that it is over: whoever repeats it goes on where it was. */
async function startRun(
  parts: ScheduleRoomParts,
  schedules: Schedules,
  { tenant, schedule: id, at, forced }: ScheduledMessageInput & { readonly at: string },
): Promise<ScheduledRun> {
  const { pool } = parts;
  const instant = new Date(at);
  if (Number.isNaN(instant.getTime())) throw new Failure('InvalidInput', `at: ${at} is no time in ISO 8601`);
  const key = forced ?? instant.toISOString();
  const found = await findSchedule(pool, tenant, id, {});
  const taken = await takeRun(pool, tenant, id, {
    key,
    at: instant,
    forced: forced !== undefined,
    session: `cron:${id}:${key}`,
    denied:
      found && !(await mayAgent(parts, tenant, found))
        ? `the agent ${found.agent_key}, which made it, may not use ${TOOL} any more`
        : undefined,
  });
  if (!taken) {
    await schedules.plan(tenant, id);
    return { state: 'gone', reason: 'the schedule was removed' };
  }
  const { run, schedule } = taken;
  const ended =
    run.state === null ? await handOver(parts, tenant, schedule, key, run.session_key ?? '') : run;
  if (run.state === null) await endRun(pool, tenant, id, key, ended);
  if (needsInstants(schedule) || schedule.delete_after_run) await schedules.plan(tenant, id);
  return {
    state: ended.state ?? 'refused',
    reason: ended.reason ?? undefined,
    session: run.session_key ?? undefined,
    turn: ended.turn_id ?? undefined,
  };
}

/** Fewer than half of those that its Temporal Schedule had are to come. */
function needsInstants({ timing, now, planned_until: until }: ScheduleRow): boolean {
  if (timing.kind !== 'cron' || until === null) return false;
  const half = nextInstants(timing, now, SCHEDULE_LIMITS.planned / 2).at(-1);
  return half !== undefined && half > until;
}

type EndedRun = Parameters<typeof endRun>[4];

async function handOver(
  { pool, wake }: ScheduleRoomParts,
  tenant: string,
  { id, agent_key, user_id, message, rights }: ScheduleRow,
  key: string,
  session: string,
): Promise<EndedRun> {
  const { allowed_tools, channel, chat_id, key: apiKey } = rights;
  try {
    const { turn_id } = await wake({
      tenant,
      session,
      agent: agent_key,
      messageId: `msg_cron-${createHash('sha256').update(`${tenant}\n${id}\n${key}`).digest('hex').slice(0, 24)}`,
      text: message,
      mode: 'queue',
      context: {
        user: user_id ?? undefined,
        allowed_tools,
        channel,
        chat_id,
        roles: await rolesNow(pool, tenant, rights),
        key: apiKey,
      },
      tells: rights.session,
    });
    return { state: 'started', reason: null, turn_id };
  } catch (error) {
    if (!(error instanceof Failure) || error.type === 'Unavailable' || error.type === 'QueueFull')
      throw error;
    return { state: 'refused', reason: error.message, turn_id: null };
  }
}

const TOOL = 'cron';

/** Whether an agent that made it may make one still. */
async function mayAgent(
  { pool, rules, catalogs }: ScheduleRoomParts,
  tenant: string,
  { agent_key: agent, user_id: user, rights }: ScheduleRow,
): Promise<boolean> {
  if (rights.session === undefined) return true;
  const found = await findRulesOfAgent(pool, tenant, agent, user);
  if (!found) return false;
  const context = { user: user ?? undefined, allowed_tools: rights.allowed_tools };
  return rules.offered({ ...found, context }, await catalogs.of(tenant, agent)).includes(TOOL);
}
