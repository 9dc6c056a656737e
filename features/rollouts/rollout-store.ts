/**
 * Rollouts: one at a time for an agent, in its row, and each change as a row of its own. Changes of one agent happen one
 * after the other, under the lock of its row.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { AgentConfig } from '#domain/agent.ts';
import { Failure } from '#domain/errors.ts';
import { refuseInRollout, type Rollout } from '#domain/rollout.ts';
import { nextRevision } from '#store/agent-store.ts';
import { execute, readRow, readRows } from '#store/postgres/statements.ts';
import type { TenantDb, TenantTx } from '#store/postgres/tenant-db.ts';
import { inTransaction } from '#store/postgres/transaction.ts';

/** An agent with the rollout in force. */
export interface RolloutRow {
  readonly key: string;
  /** What all others get. */
  readonly base: number;
  readonly rollout: Rollout;
  /** Of its last change. */
  readonly number: number;
}

export interface LockedAgent {
  readonly key: string;
  readonly revision: number;
  readonly config: AgentConfig;
  readonly rollout: Rollout | null;
}

export type RolloutAction = 'start' | 'set' | 'finish' | 'back';

export interface RolloutChangeRow {
  readonly number: number;
  readonly rollout: string;
  readonly action: RolloutAction;
  readonly base: number;
  readonly revision: number;
  readonly share: number;
  readonly users: number;
  readonly sessions: number;
  readonly reason: string | null;
  readonly by: string;
  readonly at: Date;
}

export interface Reason {
  readonly by: string;
  readonly reason?: string | undefined;
}

const LAST_NUMBER = sql`(select max(c.number) from rollout_changes c
  where c.tenant_id = agents.tenant_id and c.agent_key = agents.key)`;

const RUNNING = sql`key, revision as base, rollout, ${LAST_NUMBER} as number`;

export function findRollout(db: TenantDb, key: string): Promise<RolloutRow | undefined> {
  return readRow<RolloutRow>(db)`
    select ${RUNNING} from agents where tenant_id = ${db} and key = ${key} and rollout is not null`;
}

export function listRollouts(db: TenantDb, limit: number, after: string): Promise<RolloutRow[]> {
  return readRows<RolloutRow>(db)`
    select ${RUNNING} from agents where tenant_id = ${db} and rollout is not null and key > ${after}
     order by key limit ${limit}`;
}

/** Newest first. */
export function listRolloutChanges(
  db: TenantDb,
  key: string,
  limit: number,
  before: number | undefined,
): Promise<RolloutChangeRow[]> {
  return readRows<RolloutChangeRow>(db)`
    select number, rollout_id as rollout, action, base, revision, share, users, sessions, reason, changed_by as by,
      changed_at as at from rollout_changes
    where tenant_id = ${db} and agent_key = ${key} and (${before ?? null}::int is null or number < ${before ?? null})
    order by number desc limit ${limit}`;
}

/**
 * Starts one. `chooses` says, under the lock, which revision is rolled out: its settings, or its number. Undefined when
 * there is no such agent. @throws Failure Conflict while another is in force, Unprocessable when the revision does not
 * exist
 */
export function startRollout(
  db: TenantDb,
  key: string,
  fields: Pick<Rollout, 'share' | 'users' | 'sessions' | 'abort'>,
  { by, reason }: Reason,
  chooses: (agent: LockedAgent) => AgentConfig | number,
): Promise<RolloutRow | undefined> {
  return inTransaction(db, async (tx) => {
    const agent = await lockAgent(tx, key);
    if (!agent) return undefined;
    refuseInRollout(agent);
    const chosen = chooses(agent);
    const revision =
      typeof chosen === 'number' ? await known(tx, agent, chosen) : await addRevision(tx, chosen, by);
    const { now } = (await readRow<{ now: string }>(tx)`
      select to_jsonb(now()) #>> '{}' as now from tenants where id = ${tx}`) ?? { now: '' };
    const rollout: Rollout = { id: `rollout_${randomUUID()}`, revision, ...fields, by, at: now };
    const number = await write(tx, agent, rollout, { action: 'start', by, reason });
    return { key, base: agent.revision, rollout, number };
  });
}

/** Changes whom it includes. Failures as for its end; @throws Conflict also when `number` is not its last change */
export function setRollout(
  db: TenantDb,
  key: string,
  number: number | undefined,
  change: (rollout: Rollout) => Rollout,
  { by, reason }: Reason,
): Promise<RolloutRow | undefined> {
  return inTransaction(db, async (tx) => {
    const agent = await lockAgent(tx, key);
    if (!agent) return undefined;
    const old = await inForce(tx, agent, undefined);
    const last = await lastNumber(tx, key);
    if (number !== undefined && number !== last)
      throw new Failure('Conflict', `The rollout has change ${last} now, not ${number}; read it again`);
    const rollout = change(old);
    const next = await write(tx, agent, rollout, { action: 'set', by, reason });
    return { key, base: agent.revision, rollout, number: next };
  });
}

/**
 * `finish`: all get its revision. `back`: nobody gets it any more from the next turn on. Undefined when there is no such
 * agent. @throws Failure Conflict when none is in force, or another one than `id`
 */
export function endRollout(
  db: TenantDb,
  key: string,
  action: 'finish' | 'back',
  id: string | undefined,
  { by, reason }: Reason,
): Promise<RolloutRow | undefined> {
  return inTransaction(db, async (tx) => {
    const agent = await lockAgent(tx, key);
    if (!agent) return undefined;
    const rollout = await inForce(tx, agent, id);
    if (action === 'finish')
      await execute(tx)`
        update agents a set revision = r.revision, config = r.config from agent_revisions r
        where a.tenant_id = ${tx} and a.key = ${key} and r.tenant_id = a.tenant_id and r.agent_key = a.key
          and r.revision = ${rollout.revision}`;
    const number = await write(tx, agent, rollout, { action, by, reason });
    return { key, base: agent.revision, rollout, number };
  });
}

function lockAgent(tx: TenantTx, key: string): Promise<LockedAgent | undefined> {
  return readRow<LockedAgent>(tx)`
    select key, revision, config, rollout from agents
    where tenant_id = ${tx} and key = ${key} and deleted_at is null for update`;
}

async function inForce(
  tx: TenantTx,
  { key, rollout }: LockedAgent,
  id: string | undefined,
): Promise<Rollout> {
  if (rollout && (id === undefined || id === rollout.id)) return rollout;
  if (rollout) throw new Failure('Conflict', `The rollout in force is ${rollout.id}, not ${id}`);
  const last = await readRow<Pick<RolloutChangeRow, 'action' | 'by' | 'revision'>>(tx)`
    select action, changed_by as by, revision from rollout_changes where tenant_id = ${tx} and agent_key = ${key}
     order by number desc limit 1`;
  const before = last
    ? `: that of revision ${last.revision} was ${last.action === 'finish' ? 'finished' : 'put back'} by ${last.by}`
    : '';
  throw new Failure('Conflict', `No revision of ${key} is in a rollout${before}`);
}

async function known(tx: TenantTx, { key, revision }: LockedAgent, chosen: number): Promise<number> {
  const found = await readRow(tx)`
    select 1 from agent_revisions where tenant_id = ${tx} and agent_key = ${key} and revision = ${chosen}`;
  if (!found || chosen === revision)
    throw new Failure(
      'Unprocessable',
      found ? `All sessions have revision ${chosen} already` : `${key} has no revision ${chosen}`,
      { errors: [{ pointer: 'body/revision', message: found ? 'is the current one' : 'does not exist' }] },
    );
  return chosen;
}

async function addRevision(tx: TenantTx, config: AgentConfig, by: string): Promise<number> {
  const row = await readRow<{ revision: number }>(tx)`
    insert into agent_revisions (tenant_id, agent_key, revision, config, created_by)
    values (${tx}, ${config.key}, ${nextRevision(tx, config.key)}, ${JSON.stringify(config)}, ${by}) returning revision`;
  return row?.revision ?? 0;
}

async function lastNumber(tx: TenantTx, key: string): Promise<number> {
  const row = await readRow<{ number: number }>(tx)`
    select coalesce(max(number), 0) as number from rollout_changes where tenant_id = ${tx} and agent_key = ${key}`;
  return row?.number ?? 0;
}

/** Writes the rollout into the agent's row, or removes it, and the change as a row. Returns the change's number. */
async function write(
  tx: TenantTx,
  { key, revision: base }: LockedAgent,
  rollout: Rollout,
  { action, by, reason }: Reason & { readonly action: RolloutAction },
): Promise<number> {
  const isOver = action === 'finish' || action === 'back';
  await execute(tx)`
    update agents set rollout = ${isOver ? null : JSON.stringify(rollout)}::jsonb, updated_at = now()
    where tenant_id = ${tx} and key = ${key}`;
  const { id, revision, share, users, sessions } = rollout;
  const number = (await lastNumber(tx, key)) + 1;
  await execute(tx)`
    insert into rollout_changes (tenant_id, agent_key, number, rollout_id, action, base, revision, share, users, sessions,
      reason, changed_by)
    values (${tx}, ${key}, ${number}, ${id}, ${action}, ${base}, ${revision}, ${share}, ${users.length},
      ${sessions.length}, ${reason ?? null}, ${by})`;
  return number;
}
