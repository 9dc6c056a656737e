/**
 * Makes a tenant still: it is frozen, what runs ends or waits for a decision, what waits is parked in rows, and
 * Temporal runs nothing of it any more. Safe to repeat at any point: what is parked stays parked.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '#cli/cli-error.ts';
import { createConcurrencyLimit } from '#domain/async/concurrency-limit.ts';
import { Failure } from '#domain/errors.ts';
import { approvalWorkflowId, assignmentWorkflowId, sessionWorkflowId } from '#domain/ids.ts';
import { taskWorkflowId } from '#domain/team/team.ts';
import { OPERATOR_TENANT } from '#domain/tenant.ts';
import type { ParkedSession } from '#domain/turn/turn.ts';
import { forTenant, type TenantDb } from '#store/postgres/tenant-db.ts';
import { freezeTenant, readFreeze, thawTenant } from '#store/tenant-freeze.ts';
import type { Installation } from './installation.ts';
import { movedRowsOf } from './moved-rows.ts';
import { parkedPlace } from './rows.ts';
import { alone } from './store/alone.ts';
import {
  countUnderWay,
  listOpenAssignments,
  listOpenSessions,
  listOpenTasks,
  listPendingApprovals,
  type OpenSession,
  writeParked,
  writeStill,
} from './store/parked-store.ts';

export interface StillOptions {
  /** In words for people. */
  readonly why: string;
  /** How long what runs may take to end. */
  readonly waitSeconds: number;
}

/** A message that had passed the check when the tenant was frozen reaches Temporal within this time (api/submit-message.ts). */
const GRACE_SECONDS = 16;
const LOOK_MS = 1_000;
/** Sessions that are queried at the same time. */
const QUERIES = 16;
/** Names in one message. */
const NAMED = 20;

interface Still {
  readonly sessions: readonly ParkedSession[];
  /** Freeze.frozen_at of the freeze that holds it. */
  readonly since: string;
}

/**
 * Returns which freeze holds it (Freeze.frozen_at). Throws a CliError when something does not end in time, and unfreezes
 * the tenant then if it froze it, or when somebody else unfreezes it.
 */
export async function holdStill(at: Installation, tenant: string, options: StillOptions): Promise<string> {
  const db = forTenant(at.pool, tenant);
  const before = await readFreeze(db);
  if (!before) throw noTenant(tenant);
  if (tenant === OPERATOR_TENANT)
    throw new CliError(`${tenant} is the operator's tenant, which belongs to its installation.`);
  await freezeTenant(db, before.frozen_for ?? options.why);
  if (before.frozen_for === null) at.report(`${tenant} is frozen: it can be read, and takes nothing new.`);
  const still = await waitUntilStill(at, db, options.waitSeconds).catch(async (error: unknown) => {
    if (before.frozen_for === null) await thawTenant(db);
    throw error;
  });
  // Whoever unfreezes it waits for this, and then finds all that is parked.
  const ended = await alone(at.databaseUrl, tenant, async () => {
    await refuseThawed(db, still.since);
    await parkSessions(at, db, still.sessions);
    const count = await at.temporal.endRuns(tenant, await listRuns(db), options.why);
    await writeStill(db, movedRowsOf(at.rows));
    return count;
  });
  at.report(
    `${tenant} is still: ${still.sessions.length} sessions are parked, and ${ended} runs and schedules of Temporal have ended.`,
  );
  return still.since;
}

/** Throws a CliError unless the freeze holds the tenant without a break. */
export async function refuseThawed(db: TenantDb, since: string): Promise<void> {
  if ((await readFreeze(db))?.frozen_at !== since) throw thawed(db.tenant);
}

function thawed(tenant: string): CliError {
  return new CliError(`${tenant} was unfrozen meanwhile, so that it goes on here.`, {
    code: 'NotStill',
    remedy: 'Try again when nobody unfreezes it.',
  });
}

export function noTenant(tenant: string): CliError {
  return new CliError(`There is no tenant ${tenant} here.`, { remedy: 'List them: tempoclaw tenants list' });
}

async function waitUntilStill(at: Installation, db: TenantDb, seconds: number): Promise<Still> {
  const deadline = Date.now() + seconds * 1000;
  for (let reported = ''; ; await sleep(LOOK_MS)) {
    const freeze = await readFreeze(db);
    const since = freeze?.frozen_at ?? null;
    if (since === null) throw thawed(db.tenant);
    const found = await look(at, db);
    if (found.busy.length === 0 && (freeze?.seconds ?? 0) >= GRACE_SECONDS)
      return { sessions: found.sessions, since };
    const words = found.busy.slice(0, NAMED).join('\n  ');
    if (Date.now() >= deadline && found.busy.length > 0)
      throw new CliError(
        `${db.tenant} did not become still within ${seconds} seconds. It waits for:\n  ${words}`,
        {
          code: 'NotStill',
          remedy:
            'Wait for it or stop it, and decide what waits for a decision; then try again. --wait gives it more seconds.',
        },
      );
    if (words !== '' && words !== reported) at.report(`Waits for:\n  ${words}`);
    reported = words;
  }
}

interface Look {
  /** What does not allow the tenant to be still, in words. */
  readonly busy: readonly string[];
  /** Open sessions as they would go on. */
  readonly sessions: ParkedSession[];
}

async function look(at: Installation, db: TenantDb): Promise<Look> {
  const limit = createConcurrencyLimit(QUERIES);
  const open = await listOpenSessions(db);
  const known = new Set(open.map(({ session_key }) => session_key));
  const others = (await at.temporal.listSessions(db.tenant)).filter((key) => !known.has(key));
  const looks = await Promise.all(
    [...open, ...others.map(asSession)].map((session) =>
      limit.pass('query', () => lookAtSession(at, db.tenant, session)),
    ),
  );
  const assignments = await listOpenAssignments(db);
  const underWay: string[] = [];
  for (const one of movedRowsOf(at.rows).flatMap((rows) => rows.underWay ?? [])) {
    const count = await countUnderWay(db, one);
    if (count > 0) underWay.push(`${count} ${one.what}`);
  }
  return {
    busy: [
      ...looks.flatMap(({ busy }) => busy ?? []),
      ...assignments.map(({ kind, id }) => `the ${kind} ${id}, which an agent has given to another`),
      ...underWay,
    ],
    sessions: looks.flatMap(({ session }) => session ?? []),
  };
}

/** No turn of it is in a row yet, such as one that another client of Temporal has sent. */
function asSession(session_key: string): OpenSession {
  return { session_key, is_bound: false, turns: [], is_decided: false };
}

async function lookAtSession(
  { temporal }: Installation,
  tenant: string,
  open: OpenSession,
): Promise<{ readonly busy?: string; readonly session?: ParkedSession }> {
  const { session_key: key, turns } = open;
  const session = await temporal.parked(tenant, key).catch(unlessUnanswered);
  if (session === 'unanswered') return { busy: `the session ${key}, of which no worker says what it does` };
  // Parked before, or its run was lost: then it ends as lost when the tenant goes on.
  if (!session) return {};
  if (turns.length === 0) return hasWork(session) ? { session } : {};
  const turn = `the turn ${turns.join(', ')} of the session ${key}`;
  if (open.is_bound || session.input.assigned !== undefined)
    return { busy: `${turn}, which works for an agent or a team` };
  const isWaiting = session.is_waiting && !open.is_decided;
  return isWaiting && turns.length === 1 && session.turn_id === turns[0] ? { session } : { busy: turn };
}

/** A message that it has accepted is not answered. */
function hasWork({ input: { carry } }: ParkedSession): boolean {
  return carry !== undefined && (carry.resume !== undefined || carry.queue.length > 0);
}

function unlessUnanswered(error: unknown): 'unanswered' {
  if (error instanceof Failure && error.type === 'Unavailable') return 'unanswered';
  throw error;
}

/** In rows, because the runs that know it end. */
function parkSessions(
  { sealer }: Installation,
  db: TenantDb,
  sessions: readonly ParkedSession[],
): Promise<void> {
  const rows = sessions.map(({ input }) => ({
    session: input.session_key,
    sealed: sealer.seal(JSON.stringify(input), parkedPlace(db.tenant, input.session_key)),
    keyId: sealer.keyId,
  }));
  return writeParked(db, rows);
}

/** Workflows that must not outlive this, by what the rows say; Temporal's list may lag behind. */
async function listRuns(db: TenantDb): Promise<string[]> {
  const { tenant } = db;
  const [sessions, tasks] = [await listOpenSessions(db), await listOpenTasks(db)];
  return [
    ...sessions.map(({ session_key }) => sessionWorkflowId(tenant, session_key)),
    ...tasks.map(({ team_key, number }) => taskWorkflowId(tenant, team_key, number)),
    ...(await listOpenAssignments(db)).map(({ kind, id }) => assignmentWorkflowId(kind, id)),
    ...(await listPendingApprovals(db)).map(approvalWorkflowId),
  ];
}
