/** Stores the runs of schedules. Each has one place, which is taken under the lock of its schedule's row. */
import { isActive } from '../contract/heartbeat.ts';
import { isInstantOf, nextInstants } from '../rules/instants.ts';
import type { TurnStatus } from '#domain/turn/turn.ts';
import { lockSchedule, type ScheduleRow } from './schedule-store.ts';
import type { Db } from '#store/postgres/database.ts';
import {
  affects,
  below,
  execute,
  type PageEnd,
  readRow,
  readRows,
  type RowOf,
} from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';
import { refuseFrozen } from '#store/tenant-freeze.ts';

export interface ScheduleRunRow extends RowOf<'schedule_runs', 'schedule_id' | 'at' | 'created_at'> {
  readonly at: Date;
  readonly created_at: Date;
  readonly created_text: string;
}

export interface ListedRun extends ScheduleRunRow {
  readonly turn_status: TurnStatus | null;
  readonly text: string | null;
  readonly run_id: string | null;
}

export interface NewRun {
  /** The instant, or what identifies a requested run. */
  readonly key: string;
  readonly at: Date;
  readonly forced: boolean;
  /** Its own session, if the schedule names none. */
  readonly session: string;
  /** Why it must not start, as far as others have found. */
  readonly denied?: string | undefined;
  /** Why there is nothing to do, as far as others have found. */
  readonly idle?: string | undefined;
}

export type TakenRun = Pick<ScheduleRunRow, 'state' | 'reason' | 'session_key' | 'turn_id'>;

/**
 * Takes the place of a run, once; undefined when the schedule no longer exists. `state` is null while its message must
 * be handed over, also for a repeat after a crash. @throws Failure TenantFrozen, after which the run waits
 */
export function takeRun(
  db: TenantDb,
  id: string,
  run: NewRun,
): Promise<{ readonly run: TakenRun; readonly schedule: ScheduleRow } | undefined> {
  return inTransaction(db, async (tx) => {
    const schedule = await lockSchedule(tx, id);
    if (!schedule || schedule.deleted_at) return undefined;
    await refuseFrozen(tx);
    if (!run.forced) await expectAfter(tx, schedule, run.at);
    const old = await readRow<TakenRun>(tx)`
      select state, reason, session_key, turn_id from schedule_runs
      where tenant_id = ${tx} and schedule_id = ${id} and key = ${run.key}`;
    if (old) return { run: old, schedule };
    const taken = await decideRun(tx, schedule, run);
    const { key, at, forced } = run;
    await tx
      .insertInto('schedule_runs')
      .values({
        tenant_id: db.tenant,
        schedule_id: id,
        key,
        at,
        forced,
        revision: schedule.revision,
        ...taken,
      })
      .execute();
    return { run: taken, schedule };
  });
}

async function decideRun(tx: TenantTx, schedule: ScheduleRow, run: NewRun): Promise<TakenRun> {
  const denied = run.denied ?? (await whyDenied(tx, schedule));
  if (denied !== undefined) return { ...NOT_STARTED, state: 'refused', reason: denied };
  const late = run.forced ? undefined : whyNotDue(schedule, run.at);
  if (late !== undefined) return { ...NOT_STARTED, state: 'skipped', reason: late };
  if (schedule.overlap === 'skip' && (await isBusy(tx, schedule)))
    return { ...NOT_STARTED, state: 'skipped', reason: 'an earlier run goes on' };
  const idle = run.idle ?? (run.forced ? undefined : await whyNoBeat(tx, schedule, run.at));
  if (idle !== undefined) return { ...NOT_STARTED, state: 'skipped', reason: idle };
  const own = schedule.heartbeat?.isolated_session ? null : schedule.session_key;
  return { state: null, reason: null, session_key: own ?? run.session, turn_id: null };
}

/** A heartbeat keeps to its hours, and does not interrupt a running turn. */
async function whyNoBeat(
  tx: TenantTx,
  { heartbeat, session_key: session }: ScheduleRow,
  at: Date,
): Promise<string | undefined> {
  if (!heartbeat) return undefined;
  if (!isActive(heartbeat, at))
    return `it is not within ${heartbeat.active_hours ?? ''} (${heartbeat.timezone})`;
  const isTalking = await affects(tx)`
    select from turns where tenant_id = ${tx} and session_key = ${session} and ended_at is null limit 1`;
  return isTalking ? `a turn of the session ${session ?? ''} runs` : undefined;
}

const NOT_STARTED = { session_key: null, turn_id: null } as const;

/**
 * Records that its message is handed over or was refused, or that a heartbeat's turn has ended. A schedule for one run
 * only is deleted with it, unless it was changed since the run was taken and runs again. A late attempt changes nothing
 * of a run that has gone further.
 */
export async function endRun(
  db: TenantDb,
  id: string,
  key: string,
  { state, reason, turn_id }: Pick<TakenRun, 'state' | 'reason' | 'turn_id'>,
  attempt = 1,
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const schedule = await lockSchedule(tx, id);
    const run = await readRow<Pick<ScheduleRunRow, 'at' | 'revision'>>(tx)`
      update schedule_runs set state = ${state}, reason = ${reason}, turn_id = ${turn_id}, attempt = ${attempt}
      where tenant_id = ${tx} and schedule_id = ${id} and key = ${key}
        and (state is null or state = 'started' and attempt <= ${attempt}) returning at, revision`;
    if (run && schedule?.delete_after_run && state === 'started' && !isChangedToRun(schedule, run))
      await execute(tx)`update schedules set deleted_at = coalesce(deleted_at, clock_timestamp())
        where tenant_id = ${tx} and id = ${id}`;
  });
}

function isChangedToRun(
  { revision, timing }: ScheduleRow,
  run: Pick<ScheduleRunRow, 'at' | 'revision'>,
): boolean {
  const isChanged = run.revision !== null && run.revision !== revision;
  return isChanged && nextInstants(timing, run.at, 1).length > 0;
}

async function expectAfter(tx: TenantTx, row: ScheduleRow, at: Date): Promise<void> {
  if (!row.next_at || row.next_at > at) return;
  const next = nextInstants(row.timing, at, 1)[0];
  await execute(tx)`update schedules set next_at = ${next} where tenant_id = ${tx} and id = ${row.id}`;
}

function whyNotDue(
  { enabled, timing, now, catchup_seconds: catchup }: ScheduleRow,
  at: Date,
): string | undefined {
  if (!enabled) return 'the schedule is paused';
  if (!isInstantOf(timing, at)) return 'the schedule was changed and does not run then';
  if (now.getTime() - at.getTime() > catchup * 1000) return `it is more than ${catchup} seconds late`;
  return undefined;
}

/** Checks the current rights: those that were revoked since are gone, and added ones do not count. */
export async function whyDenied(
  db: TenantDb<Db>,
  { agent_key, user_id, session_key, rights }: ScheduleRow,
): Promise<string | undefined> {
  const found = await readRow<{ agent: boolean; key: boolean; person: boolean; session: boolean }>(db)`
    select exists (select from agents where tenant_id = ${db} and key = ${agent_key} and deleted_at is null) as agent,
      ${rights.key}::text is null or exists (select from api_keys where tenant_id = ${db} and id = ${rights.key}
        and revoked_at is null and (expires_at is null or expires_at > now()) and scopes && array['run','admin']) as key,
      ${rights.key}::text is not null or ${rights.channel}::text is null or exists (
        select from channels c where c.tenant_id = ${db} and c.key = ${rights.channel} and (c.type in ('web','webhook')
          or c.settings ->> 'people' = 'open' or exists (select from channel_people p
            where p.tenant_id = ${db} and p.channel_key = c.key and p.user_id = ${user_id}))) as person,
      not exists (select from sessions where tenant_id = ${db} and key = ${session_key}
        and (agent_key <> ${agent_key} or user_id is distinct from ${user_id})) as session`;
  if (!found?.agent) return `there is no agent ${agent_key} any more`;
  if (!found.key) return 'the API key that it was made with was revoked, has expired, or may not run turns';
  if (!found.person)
    return `nobody of the channel ${rights.channel ?? ''} is ${user_id ?? 'its user'} any more`;
  if (!found.session) return `the session ${session_key ?? ''} is another agent's or user's`;
  return undefined;
}

/**
 * True if an earlier run is not handed over yet, or its turn continues. For a heartbeat, also while it must be checked
 * or tried again, which is within an hour (lookAgain). One whose workflow was ended from outside does not count.
 */
function isBusy(tx: TenantTx, { id, heartbeat }: ScheduleRow): Promise<boolean> {
  return affects(tx)`
    select from schedule_runs r left join turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
    where r.tenant_id = ${tx} and r.schedule_id = ${id}
      and (r.state is null and r.created_at > now() - interval '10 minutes' or r.state = 'started' and t.id is not null
        and (t.ended_at is null or ${heartbeat !== null} and t.ended_at > now() - interval '75 minutes'))`;
}

/** The roles of its key, or of the person in its channel, at its creation that still apply. */
export async function rolesNow(
  db: TenantDb,
  { user_id, rights: { key, channel, roles = [] } }: Pick<ScheduleRow, 'user_id' | 'rights'>,
): Promise<string[]> {
  if (key === undefined) {
    if (channel === undefined || !roles.includes('approve')) return [...roles];
    const mayDecide = await affects(db)`
      select from channel_people
      where tenant_id = ${db} and channel_key = ${channel} and user_id = ${user_id} and may_decide limit 1`;
    return roles.filter((role) => role !== 'approve' || mayDecide);
  }
  const row = await readRow<{ scopes: string[] }>(db)`
    select scopes from api_keys where tenant_id = ${db} and id = ${key}`;
  const now = row?.scopes ?? [];
  return roles.filter((role) => now.includes(role) || now.includes('admin'));
}

/** A run of a heartbeat with its turn. `age` is seconds since the turn ended, or else since the run began. */
export interface BeatRow
  extends Pick<ScheduleRunRow, 'state' | 'reason' | 'session_key' | 'turn_id' | 'attempt'> {
  readonly turn_status: TurnStatus | null;
  readonly text: string | null;
  readonly error: { readonly message: string } | null;
  readonly age: number;
}

export function readBeat(db: TenantDb, id: string, key: string): Promise<BeatRow | undefined> {
  return readRow<BeatRow>(db)`
    select r.state, r.reason, r.session_key, r.turn_id, r.attempt, t.status as turn_status, t.text, t.error,
      extract(epoch from clock_timestamp() - coalesce(t.ended_at, r.created_at))::float8 as age
    from schedule_runs r left join turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
    where r.tenant_id = ${db} and r.schedule_id = ${id} and r.key = ${key}`;
}

/** Lists the newest first, with how their turns went. */
export function listRuns(
  db: TenantDb,
  id: string,
  limit: number,
  after: PageEnd | undefined,
): Promise<ListedRun[]> {
  return readRows<ListedRun>(db)`
    select r.*, r.created_at::text as created_text, t.status as turn_status, left(t.text, 2000) as text, t.run_id
    from schedule_runs r left join turns t on t.tenant_id = r.tenant_id and t.id = r.turn_id
    where r.tenant_id = ${db} and r.schedule_id = ${id} ${below('r.created_at', 'r.key', after)}
    order by r.created_at desc, r.key limit ${limit}`;
}
