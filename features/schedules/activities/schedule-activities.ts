/**
 * The activities of schedules: a run starts once, with the rights of its creation that still apply, and the tool
 * changes schedules.
 */
import { createHash } from 'node:crypto';
import { Failure } from '#domain/errors.ts';
import {
  CHECKLIST,
  type HeartbeatSettings,
  lookAgain,
  announcementText,
  spokenPart,
} from '../contract/heartbeat.ts';
import {
  SCHEDULE_LIMITS,
  type ScheduleActivities,
  type ScheduledMessageInput,
  type ScheduledRun,
} from '../contract/schedule.ts';
import { nextInstants } from '../rules/instants.ts';
import type { MessageContext } from '#domain/turn/turn.ts';
import type { CallRules } from '#policy/call-rules.ts';
import type { AgentCatalogs } from '#policy/agent-catalogs.ts';
import {
  type BeatRow,
  endRun,
  readBeat,
  rolesNow,
  type TakenRun,
  takeRun,
  whyDenied,
} from '../store/schedule-run-store.ts';
import { readSchedule, type ScheduleRow } from '../store/schedule-store.ts';
import { findRulesOfAgent } from '#store/tenant-policy-store.ts';
import { type HeartbeatParts, readChecklist } from '../temporal/heartbeats.ts';
import { createSchedules, type ScheduleParts, type Schedules } from '../temporal/schedules.ts';
import { activityFailure, failingAs } from '#activities/activity-failure.ts';
import type { ActivityDeps } from '#activities/activity-deps.ts';
import type { SendSystemMessage } from '#activities/turn/send-system-message.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import { createOwnHeartbeats, type OwnHeartbeats } from './own-heartbeats.ts';
import { createOwnSchedules, type OwnSchedules } from './own-schedules.ts';

export interface ScheduleActivityDeps extends ActivityDeps, ScheduleParts {
  readonly wake: SendSystemMessage;
  readonly rules: Pick<CallRules, 'offered'>;
  readonly catalogs: AgentCatalogs;
  readonly models: HeartbeatParts['models'];
}

export function createScheduleActivities(parts: ScheduleActivityDeps): {
  readonly activities: ScheduleActivities;
  readonly tools: { readonly schedules: OwnSchedules; readonly heartbeats: OwnHeartbeats };
  readonly schedules: Schedules;
} {
  const schedules = createSchedules(parts);
  return {
    activities: {
      start_scheduled_run: failingAs(activityFailure, (input) => startRun(parts, schedules, input)),
      settle_heartbeat: failingAs(activityFailure, (input) => settleHeartbeat(parts, input)),
    },
    tools: {
      schedules: createOwnSchedules(parts.pool, schedules),
      heartbeats: createOwnHeartbeats({ ...parts, schedules }),
    },
    schedules,
  };
}

/** First its place in the rows, then its message, then its end: a repeat continues where it was. */
async function startRun(
  parts: ScheduleActivityDeps,
  schedules: Schedules,
  { tenant, schedule: id, at, forced }: ScheduledMessageInput & { readonly at: string },
): Promise<ScheduledRun> {
  const { pool } = parts;
  const instant = new Date(at);
  if (Number.isNaN(instant.getTime())) throw new Failure('InvalidInput', `at: ${at} is no time in ISO 8601`);
  const key = forced ?? instant.toISOString();
  const found = await readSchedule(forTenant(pool, tenant), id);
  const taken = await takeRun(forTenant(pool, tenant), id, {
    key,
    at: instant,
    forced: forced !== undefined,
    session: `${found?.heartbeat ? 'heartbeat' : 'cron'}:${id}:${key}`,
    denied: found && (await whyNotMay(parts, tenant, found)),
    idle: found && (await whyNothingToDo(parts, tenant, found)),
  });
  if (!taken) {
    await schedules.plan(tenant, id);
    return { state: 'gone', reason: 'the schedule was removed' };
  }
  const { run, schedule } = taken;
  const ended = run.state === null ? await deliver(parts, tenant, schedule, key, run.session_key ?? '') : run;
  if (run.state === null) await endRun(forTenant(pool, tenant), id, key, ended);
  if (needsInstants(schedule) || schedule.delete_after_run) await schedules.plan(tenant, id);
  const watch = schedule.heartbeat && ended.state === 'started' ? { key, seconds: 1 } : undefined;
  return { ...shownRun({ ...ended, session_key: run.session_key }), watch };
}

function shownRun({ state, reason, session_key, turn_id }: TakenRun): ScheduledRun {
  return {
    state: state ?? 'refused',
    reason: reason ?? undefined,
    session: session_key ?? undefined,
    turn: turn_id ?? undefined,
  };
}

/** Each effect has an id that is derived from the run and the attempt, so a repeat does nothing twice. */
async function settleHeartbeat(
  parts: ScheduleActivityDeps,
  { tenant, schedule: id, key }: Parameters<ScheduleActivities['settle_heartbeat']>[0],
): Promise<ScheduledRun> {
  const { pool } = parts;
  const schedule = await readSchedule(forTenant(pool, tenant), id);
  const run = await readBeat(forTenant(pool, tenant), id, key);
  if (!schedule?.heartbeat || !run) return { state: 'gone', reason: 'the heartbeat was removed' };
  if (run.state !== 'started') return shownRun(run);
  const { turn_status: status, attempt, age } = run;
  const isOverForGood = status === 'failed' && attempt > schedule.heartbeat.max_retries;
  const seconds = isOverForGood ? 0 : lookAgain({ status, attempt, age });
  if (seconds > 0) return { ...shownRun(run), watch: { key, seconds } };
  if (status === 'failed' && !isOverForGood) return tryAgain(parts, tenant, schedule, key, run);
  const ended =
    status === 'completed'
      ? await saySomething(parts, tenant, schedule, schedule.heartbeat, key, run)
      : ({ state: 'failed', reason: run.error?.message ?? whyEnded(status) } as const);
  await endRun(forTenant(pool, tenant), id, key, { ...ended, turn_id: run.turn_id }, attempt);
  return shownRun({ ...run, ...ended });
}

/** Runs in the session of the previous attempt, if it may still run. */
async function tryAgain(
  parts: ScheduleActivityDeps,
  tenant: string,
  schedule: ScheduleRow,
  key: string,
  { session_key, turn_id, attempt }: BeatRow,
): Promise<ScheduledRun> {
  const { pool } = parts;
  const denied =
    (await whyNotMay(parts, tenant, schedule)) ?? (await whyDenied(forTenant(pool, tenant), schedule));
  const ended =
    denied === undefined
      ? await deliver(parts, tenant, schedule, key, session_key ?? '', attempt + 1)
      : ({ state: 'refused', reason: denied, turn_id } as const);
  await endRun(forTenant(pool, tenant), schedule.id, key, ended, attempt + 1);
  const watch = ended.state === 'started' ? { key, seconds: 1 } : undefined;
  return { ...shownRun({ ...ended, session_key }), watch };
}

function whyEnded(status: string | null): string {
  return status === null ? 'its turn is there no more' : `its turn was ${status}`;
}

/** Posts the answer of a session of its own where people are; an answer in their session is already there. */
async function saySomething(
  { wake, pool }: ScheduleActivityDeps,
  tenant: string,
  { id, agent_key: agent, user_id, session_key: session, rights }: ScheduleRow,
  { ack_max_chars, isolated_session }: HeartbeatSettings,
  key: string,
  run: BeatRow,
): Promise<Pick<TakenRun, 'state' | 'reason'>> {
  const text = spokenPart(run.text ?? '', ack_max_chars);
  if (text === undefined) return { state: 'quiet', reason: null };
  if (session === null) return { state: 'said', reason: 'to nobody: it has no session to speak in' };
  if (!isolated_session || run.session_key === null || run.turn_id === null)
    return { state: 'said', reason: null };
  try {
    await wake({
      tenant,
      session,
      agent,
      messageId: messageIdOf('said', tenant, id, key),
      text: announcementText(text),
      mode: 'queue',
      context: await contextOf(forTenant(pool, tenant), { user_id, rights }),
      from: { session: run.session_key, turn: run.turn_id },
    });
    return { state: 'said', reason: null };
  } catch (error) {
    return { state: 'failed', reason: refusalOf(error) };
  }
}

/** Throws on what should be tried again. */
function refusalOf(error: unknown): string {
  if (!(error instanceof Failure) || error.type === 'Unavailable' || error.type === 'QueueFull') throw error;
  return error.message;
}

function messageIdOf(...parts: readonly string[]): string {
  return `msg_cron-${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)}`;
}

/** A heartbeat with an empty checklist calls no model. */
async function whyNothingToDo(
  { pool }: ScheduleActivityDeps,
  tenant: string,
  { agent_key: agent, user_id: user, heartbeat }: ScheduleRow,
): Promise<string | undefined> {
  const isIdle = heartbeat !== null && (await readChecklist(forTenant(pool, tenant), agent, user)).isEmpty;
  return isIdle ? `${CHECKLIST} has nothing to do` : undefined;
}

/** True if fewer than half of its Temporal Schedule's instants are left. */
function needsInstants({ timing, now, planned_until: until }: ScheduleRow): boolean {
  if (timing.kind !== 'cron' || until === null) return false;
  const half = nextInstants(timing, now, SCHEDULE_LIMITS.planned / 2).at(-1);
  return half !== undefined && half > until;
}

type EndedRun = Parameters<typeof endRun>[3];

async function deliver(
  { pool, wake }: ScheduleActivityDeps,
  tenant: string,
  { id, agent_key, user_id, message, rights, heartbeat }: ScheduleRow,
  key: string,
  session: string,
  attempt = 1,
): Promise<EndedRun> {
  try {
    const { turn_id } = await wake({
      tenant,
      session,
      agent: agent_key,
      messageId: messageIdOf(tenant, id, key, ...(attempt > 1 ? [String(attempt)] : [])),
      text: message,
      mode: 'queue',
      context: {
        ...(await contextOf(forTenant(pool, tenant), { user_id, rights })),
        overrides: heartbeat
          ? { model: heartbeat.model, files: heartbeat.light_context ? [CHECKLIST] : undefined }
          : undefined,
      },
      sourceSessions: rights.session === undefined ? undefined : [rights.session],
    });
    return { state: 'started', reason: null, turn_id };
  } catch (error) {
    return { state: 'refused', reason: refusalOf(error), turn_id: null };
  }
}

/** For whom and where a run posts, with the current roles of its key. */
async function contextOf(
  db: TenantDb,
  { user_id, rights }: Pick<ScheduleRow, 'user_id' | 'rights'>,
): Promise<MessageContext> {
  const { allowed_tools, channel, chat_id, key } = rights;
  const roles = await rolesNow(db, { user_id, rights });
  return { user: user_id ?? undefined, allowed_tools, channel, chat_id, roles, key };
}

/** Whether the agent that made it may still make one; otherwise why not. */
async function whyNotMay(
  { pool, rules, catalogs }: ScheduleActivityDeps,
  tenant: string,
  { agent_key: agent, user_id: user, rights, heartbeat }: ScheduleRow,
): Promise<string | undefined> {
  if (rights.session === undefined) return undefined;
  const tool = heartbeat ? 'heartbeat' : 'cron';
  const found = await findRulesOfAgent(forTenant(pool, tenant), agent, user);
  const context = { user: user ?? undefined, allowed_tools: rights.allowed_tools };
  const offered = found ? rules.offered({ ...found, context }, await catalogs.of(tenant, agent)) : [];
  return offered.includes(tool)
    ? undefined
    : `the agent ${agent}, which made it, may not use ${tool} any more`;
}
