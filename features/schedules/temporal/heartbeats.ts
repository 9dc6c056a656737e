/** Sets an agent's heartbeat, of which it has one for each user: a schedule at intervals with a kind of its own. */
import { Failure } from '#domain/errors.ts';
import {
  CHECKLIST,
  HEARTBEAT_DEFAULTS,
  HEARTBEAT_LIMITS,
  HEARTBEAT_PROMPT,
  type HeartbeatSettings,
  isEmptyChecklist,
} from '../contract/heartbeat.ts';
import type { heartbeatChangeSchema } from '../schema/heartbeat.ts';
import type { Kept } from '#domain/schema/scalars.ts';
import type { ScheduleRights } from '../contract/schedule.ts';
import { refusedField } from '../rules/refused.ts';
import { isZone } from '../rules/instants.ts';
import { findAgent } from '#store/agent-store.ts';
import { readDocument } from '#store/files/document-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { type TenantDb, forTenant } from '#store/postgres/tenant-db.ts';
import { findHeartbeat, type ScheduleRow } from '../store/schedule-store.ts';
import type { ScheduleMaker, Schedules } from './schedules.ts';

export type HeartbeatChange = Kept<typeof heartbeatChangeSchema>;

export interface HeartbeatParts {
  readonly pool: Pool;
  readonly schedules: Pick<Schedules, 'add' | 'change'>;
  readonly models: {
    /** Why no turn can use the model; undefined when one can. */
    readonly problem: (ref: string) => string | undefined;
  };
}

/**
 * Makes it, or changes the fields that are present; null removes a field. Without `session`, it posts in `here`, when
 * it is new or is set from another chat than before. The session and the chat whose rights it has are thus always the
 * same. Safe to repeat. @throws Failure Unprocessable, Conflict when two make it at once
 */
export async function setHeartbeat(
  { pool, schedules, models }: HeartbeatParts,
  maker: ScheduleMaker & { readonly agent: string },
  change: HeartbeatChange,
  here?: string,
): Promise<ScheduleRow> {
  const { tenant, agent, user, rights } = maker;
  const problem = change.model ? models.problem(change.model) : undefined;
  if (problem !== undefined) throw refusedField('model', problem);
  const old = await findHeartbeat(forTenant(pool, tenant), agent, user);
  const { interval, enabled, prompt, session: wished, ...rest } = change;
  const message = prompt === null ? HEARTBEAT_PROMPT : prompt;
  const settingsOf = (row?: ScheduleRow) => {
    const stays = row && (here === undefined || isSamePlace(row.rights, rights));
    const usual = stays ? row.session_key : here;
    const session = wished === undefined ? usual : wished;
    const heartbeat = changed(row?.heartbeat ?? HEARTBEAT_DEFAULTS, rest);
    if (!heartbeat.isolated_session && !session)
      throw refusedField('session', 'say in which session, since isolated_session is false');
    return session
      ? ({ deliver: 'session', session, heartbeat } as const)
      : ({ deliver: 'none', session: undefined, heartbeat } as const);
  };
  const every = { kind: 'every', every_seconds: interval ?? HEARTBEAT_LIMITS.usual } as const;
  if (!old)
    return schedules.add(maker, {
      ...settingsOf(),
      name: 'heartbeat',
      agent,
      message: message ?? HEARTBEAT_PROMPT,
      schedule: every,
      enabled: enabled ?? true,
      delete_after_run: false,
      overlap: 'skip',
      // A late beat is not made up for, because the next one comes.
      catchup_seconds: HEARTBEAT_LIMITS.min,
      allowed_tools: undefined,
    });
  const row = await schedules.change({ tenant, rights }, old.id, (now) => ({
    ...settingsOf(now),
    message,
    enabled,
    schedule: interval === undefined ? undefined : every,
  }));
  if (row) return row;
  throw new Failure('Conflict', 'the heartbeat was removed meanwhile; set it again');
}

/** Its own beats are in the place that it already has. */
function isSamePlace(one: ScheduleRights, other: ScheduleRights): boolean {
  return one.channel === other.channel && one.chat_id === other.chat_id;
}

type Settings = Omit<HeartbeatChange, 'interval' | 'enabled' | 'prompt' | 'session'>;

function changed(old: HeartbeatSettings, { active_hours, model, ...change }: Settings): HeartbeatSettings {
  const { timezone = old.timezone } = change;
  if (!isZone(timezone))
    throw refusedField('timezone', `unknown time zone "${timezone}"; give one such as Europe/Berlin`);
  const set = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return {
    ...old,
    ...set,
    active_hours: active_hours === undefined ? old.active_hours : (active_hours ?? undefined),
    model: model === undefined ? old.model : (model ?? undefined),
  };
}

/** The text of HEARTBEAT.md as the agent has it for its user, and whether it contains anything to do. */
export async function readChecklist(
  db: TenantDb,
  agent: string,
  user: string | null,
): Promise<{ readonly text: string; readonly isEmpty: boolean }> {
  const found = await findAgent(db, agent);
  const list =
    found &&
    (await readDocument(db.unbound, { tenant: db.tenant, agent, user, type: found.config.type }, CHECKLIST));
  const text = list?.text ?? '';
  return { text, isEmpty: isEmptyChecklist(text) };
}
