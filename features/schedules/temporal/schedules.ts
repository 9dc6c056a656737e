/**
 * Changes schedules for people and for agents: the row first, then its Temporal Schedule, which the sweep repairs if
 * that is lost.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '#domain/errors.ts';
import {
  runIdOf,
  SCHEDULE_LIMITS,
  SCHEDULED_MESSAGE,
  scheduleIdOf,
  type ScheduledMessageInput,
  type ScheduleRights,
} from '../contract/schedule.ts';
import type { NewSchedule, Timing } from '../schema/schedule.ts';
import { refusedField, refusedTiming } from '../rules/refused.ts';
import type { HeartbeatSettings } from '../contract/heartbeat.ts';
import { nextInstants, timingProblem, wholeSeconds } from '../rules/instants.ts';
import { isTransient, type Pool } from '#store/postgres/pool.ts';
import {
  deleteSchedule,
  insertSchedule,
  missedInstants,
  planSchedule,
  type ScheduleFields,
  type ScheduleRow,
  schedulesOf,
  schedulesToPlan,
  updateSchedule,
} from '../store/schedule-store.ts';
import type { ScrubberOf } from '#store/secrets/scrubber.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import { type MessageSchedules, messageSchedulesOf } from './message-schedules.ts';

export interface ScheduleParts {
  readonly pool: Pool;
  readonly scrubberOf: ScrubberOf;
  readonly temporal: Pick<TemporalAccess, 'start'> & {
    readonly clients: Parameters<typeof messageSchedulesOf>[0];
  };
}

/** Who makes a schedule, and the known facts about them. */
export interface ScheduleMaker {
  readonly tenant: string;
  readonly user: string | null;
  readonly by: string;
  readonly rights: ScheduleRights;
  /** The same for a repeated request. */
  readonly stem: string;
}

/** With `heartbeat`, it is the agent's heartbeat. */
export type ScheduleJob = NewSchedule & { readonly heartbeat?: HeartbeatSettings | undefined };

export type ScheduleChange = Partial<
  Omit<ScheduleJob, 'name' | 'agent' | 'user' | 'session' | 'allowed_tools'>
> & {
  readonly session?: string | null | undefined;
  readonly allowed_tools?: readonly string[] | null | undefined;
};

/** Throws Failures, with words for the maker of the request. */
export interface Schedules {
  add(maker: ScheduleMaker, job: ScheduleJob): Promise<ScheduleRow>;
  /**
   * It then has the rights of its last changer, but never more tools than before. A function gets the current row under
   * the lock. Returns undefined when it is gone.
   */
  change(
    maker: Pick<ScheduleMaker, 'tenant' | 'rights'>,
    id: string,
    change: ScheduleChange | ((old: ScheduleRow) => ScheduleChange),
  ): Promise<ScheduleRow | undefined>;
  remove(tenant: string, id: string): Promise<boolean>;
  /** Starts a run now, whatever its instants and pause; `key` identifies it. Returns the key of the run. */
  runNow(schedule: ScheduleRow, tenant: string, key: string): Promise<string>;
  /**
   * Deletes those of a user, or those that were made or are posted in a session. Resolves when they are gone, with
   * their number.
   */
  forget(tenant: string, of: { readonly user?: string; readonly session?: string }): Promise<number>;
  /**
   * Makes the Temporal Schedule as the row says; returns false when another process does it. Safe to repeat, also
   * concurrently.
   */
  plan(tenant: string, id: string): Promise<boolean>;
  /** Does the same for all that differ, and starts their missed runs; returns how many. */
  planAll(): Promise<number>;
}

/** Wait between checks whether another process has planned it. */
const PAUSE_MS = 200;

export function createSchedules({ pool, scrubberOf, temporal }: ScheduleParts): Schedules {
  const messages = messageSchedulesOf(temporal.clients);
  const plan = (tenant: string, id: string): Promise<boolean> =>
    planSchedule(forTenant(pool, tenant), id, (row) => follow(messages, tenant, row));

  /** The row stays: if it cannot be planned now, the sweep plans it. */
  async function planned<Row extends Pick<ScheduleRow, 'id'>>(tenant: string, row: Row): Promise<Row> {
    await plan(tenant, row.id).catch(unlessAway);
    return row;
  }

  const start = (
    tenant: string,
    row: Labels,
    id: string,
    more: Pick<ScheduledMessageInput, 'at' | 'forced'>,
  ) =>
    temporal.start({
      type: SCHEDULED_MESSAGE,
      id,
      input: { tenant, schedule: row.id, ...more } satisfies ScheduledMessageInput,
      summary: summaryOf(row),
      tenant,
      agent: row.agent_key,
    });

  return {
    async add({ tenant, user, by, rights, stem }, job) {
      const { name, agent } = job;
      const { text } = await scrubberOf(tenant);
      const id = `${name}-${shortHash(tenant, stem)}`;
      const fields = checked(
        {
          name,
          agent_key: agent,
          user_id: user,
          message: text(job.message),
          timing: job.schedule,
          session_key: sessionOf(job.deliver, job.session),
          delete_after_run: job.delete_after_run,
          enabled: job.enabled,
          overlap: job.overlap,
          catchup_seconds: job.catchup_seconds,
          rights: { ...rights, allowed_tools: narrowed(rights.allowed_tools, job.allowed_tools) },
          heartbeat: job.heartbeat ?? null,
        },
        new Date(),
      );
      const row = await insertSchedule(forTenant(pool, tenant), { ...fields, id, created_by: by });
      if (row === 'full')
        throw new Failure(
          'Conflict',
          `there are ${SCHEDULE_LIMITS.perAgent} schedules of an agent, or ${SCHEDULE_LIMITS.perTenant} in all, at most; remove one`,
        );
      if (!row) throw new Failure('Conflict', `${agent} has a schedule ${name} already; change that one`);
      return planned(tenant, row).catch(async (error: unknown) => {
        // A schedule that Temporal refuses is not created.
        if (row.planned === null && (await deleteSchedule(forTenant(pool, tenant), row.id)))
          await plan(tenant, row.id);
        throw error;
      });
    },
    async change({ tenant, rights }, id, change) {
      const { text } = await scrubberOf(tenant);
      const row = await updateSchedule(forTenant(pool, tenant), id, (old) =>
        changedRow(old, rights, typeof change === 'function' ? change(old) : change, text),
      );
      return row && planned(tenant, row);
    },
    async remove(tenant, id) {
      const isThere = await deleteSchedule(forTenant(pool, tenant), id);
      if (isThere) await planned(tenant, { id });
      return isThere;
    },
    async runNow(row, tenant, key) {
      const forced = `now-${shortHash(tenant, row.id, key)}`;
      await start(tenant, row, `${scheduleIdOf(tenant, row.id)}/${forced}`, { forced });
      return forced;
    },
    async forget(tenant, of) {
      const ids = await schedulesOf(forTenant(pool, tenant), of);
      for (const id of ids) {
        await deleteSchedule(forTenant(pool, tenant), id);
        while (!(await plan(tenant, id))) await sleep(PAUSE_MS);
      }
      return ids.length;
    },
    plan,
    async planAll() {
      const found = await schedulesToPlan(pool);
      const problems: unknown[] = [];
      for (const { tenant_id: tenant, ...row } of found)
        try {
          for (const at of await missedInstants(forTenant(pool, tenant), row.id))
            await start(tenant, row, runIdOf(tenant, row.id, at), { at: at.toISOString() });
          await plan(tenant, row.id);
        } catch (error) {
          // A schedule that Temporal refuses does not stop the others; if Temporal is away, all wait.
          if (isAway(error)) throw error;
          problems.push(error);
        }
      if (problems.length > 0) throw problems[0];
      return found.length;
    },
  };
}

type Labels = Pick<ScheduleRow, 'id' | 'agent_key' | 'name'>;

function summaryOf({ agent_key: agent, name }: Labels): string {
  return `${agent}: ${name}`;
}

/** The last instant in the Temporal Schedule; null if it has no end. */
async function follow(schedules: MessageSchedules, tenant: string, row: ScheduleRow): Promise<Date | null> {
  const id = scheduleIdOf(tenant, row.id);
  if (row.deleted_at) {
    await schedules.remove(id);
    return null;
  }
  const { timing, next_at: next, now } = row;
  // What is due now stays in it, because Temporal may not have started it yet.
  const from = next && next < now ? new Date(next.getTime() - 1) : now;
  const instants = timing.kind === 'every' ? [] : nextInstants(timing, from, SCHEDULE_LIMITS.planned);
  await schedules.put({
    id,
    input: { tenant, schedule: row.id },
    when: timing.kind === 'every' ? intervalOf(timing) : { instants },
    // A schedule without instants never starts by itself.
    isPaused: !row.enabled || (timing.kind !== 'every' && instants.length === 0),
    catchupSeconds: row.catchup_seconds,
    summary: summaryOf(row),
    note: noteOf(row),
    tenant,
    agent: row.agent_key,
  });
  return instants.at(-1) ?? null;
}

function intervalOf(timing: Extract<Timing, { kind: 'every' }>) {
  const everySeconds = timing.every_seconds;
  const from = wholeSeconds(timing.from);
  return { everySeconds, offsetSeconds: (from / 1000) % everySeconds, from: new Date(from) };
}

/** Text for people in the web UI, which shows only instants. */
function noteOf({ timing, enabled }: ScheduleRow): string {
  return `${timingText(timing)}${enabled ? '' : '; paused'}`;
}

/** The timing in a few words. */
function timingText(timing: Timing): string {
  switch (timing.kind) {
    case 'at':
      return `at ${timing.at}`;
    case 'every':
      return `each ${timing.every_seconds} s`;
    case 'cron':
      return `${timing.expr} (${timing.tz})`;
  }
}

/** ISO 8601, in UTC; empty for a paused one. */
export function nextRuns({ timing, enabled, now }: ScheduleRow): string[] {
  return enabled ? nextInstants(timing, now, SCHEDULE_LIMITS.nextRuns).map((at) => at.toISOString()) : [];
}

/** `now` is set if the timing is new. Throws Unprocessable. */
function checked(fields: ScheduleFields, now: Date | undefined): ScheduleFields {
  const { timing } = fields;
  const problem = now && timingProblem(timing, now);
  if (problem !== undefined) throw refusedTiming(problem);
  return timing.kind === 'every' && timing.from === undefined
    ? { ...fields, timing: { ...timing, from: (now ?? new Date()).toISOString() } }
    : fields;
}

function sessionOf(deliver: NewSchedule['deliver'], session: string | null | undefined): string | null {
  if (deliver === 'none' && session)
    throw refusedField('deliver', 'must be "session" for it to be said in a session');
  if (deliver === 'session' && !session)
    throw refusedField('session', 'say in which session, since deliver is "session"');
  return session ?? null;
}

function changedSession(old: ScheduleRow, { deliver, session }: ScheduleChange): string | null {
  if (deliver === undefined && session === undefined) return old.session_key;
  const to = deliver ?? (session ? 'session' : 'none');
  return sessionOf(to, session === undefined && to === 'session' ? old.session_key : session);
}

function changedRow(
  old: ScheduleRow,
  rights: ScheduleRights,
  change: ScheduleChange,
  hide: (text: string) => string,
): ScheduleFields {
  return checked(changed(old, rights, change, hide), change.schedule === undefined ? undefined : old.now);
}

function changed(
  old: ScheduleRow,
  rights: ScheduleRights,
  change: ScheduleChange,
  hide: (text: string) => string,
): ScheduleFields {
  const held = narrowed(old.rights.allowed_tools, rights.allowed_tools);
  return {
    name: old.name,
    agent_key: old.agent_key,
    user_id: old.user_id,
    message: change.message === undefined ? old.message : hide(change.message),
    timing: change.schedule ?? old.timing,
    session_key: changedSession(old, change),
    delete_after_run: change.delete_after_run ?? old.delete_after_run,
    enabled: change.enabled ?? old.enabled,
    overlap: change.overlap ?? old.overlap,
    catchup_seconds: change.catchup_seconds ?? old.catchup_seconds,
    rights: {
      ...rights,
      session: rights.session ?? old.rights.session,
      allowed_tools: narrowed(held, change.allowed_tools ?? undefined),
    },
    heartbeat: change.heartbeat ?? old.heartbeat,
  };
}

/** What both allow; everything if neither restricts it. */
function narrowed(
  held: readonly string[] | undefined,
  expected: readonly string[] | undefined,
): readonly string[] | undefined {
  return held && expected ? expected.filter((name) => held.includes(name)) : (held ?? expected);
}

/** 8 characters: enough among those of one tenant and name. */
function shortHash(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8);
}

function unlessAway(error: unknown): void {
  if (!isAway(error)) throw error;
}

/** True if Temporal or Postgres is away. */
function isAway(error: unknown): boolean {
  return isTransient(error) || (error instanceof Failure && error.type === 'Unavailable');
}
