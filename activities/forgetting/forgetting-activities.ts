/**
 * The activities of forgetting (workflows/forget.ts): running work is stopped, then runs and rows are removed and
 * counted in the receipt.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { Failure } from '#domain/errors.ts';
import { type ForgetActivities, FORGET_BY, type ForgetInput } from '#domain/forgetting.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import {
  countForgotten,
  endForgetting,
  findForgetting,
  type ForgettingRow,
  noteForgottenSessions,
  noteStopped,
  readClock,
  removeEmbeddings,
  removeSessionRows,
  removeUserRows,
} from '#store/forgetting-store.ts';
import type { RowParts } from '#store/row-parts.ts';
import type { Db } from '#store/postgres/database.ts';
import type { Pool } from '#store/postgres/pool.ts';
import { listTurns } from '#store/turns/turn-store.ts';
import type { ForgetPart } from '#domain/feature.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { TemporalAccess } from '#temporal/client.ts';
import { ownSuffix } from '../workspace/workspace-folder.ts';
import type { Workspaces } from '../workspace/workspaces.ts';
import { activityFailure, failingAs } from '../activity-failure.ts';

export interface ForgettingDeps {
  readonly pool: Pool;
  readonly workspaces: Pick<Workspaces, 'remove'>;
  readonly rows: RowParts;
  /** Data that features keep outside rows. */
  readonly parts: readonly ForgetPart[];
  readonly temporal: Pick<TemporalAccess, 'stop' | 'stopIdle' | 'stateOf' | 'removeRuns'>;
}

/** Milliseconds between two checks of a workflow that must end. */
const LOOK_MS = 200;

/** Somebody who goes on talking does not keep the rest from being forgotten. */
const MAX_PASSES = 20;

export function createForgettingActivities(deps: ForgettingDeps): ForgetActivities {
  const { pool, rows, temporal, parts, workspaces } = deps;
  const step = <Result>(work: (tenant: string, row: ForgettingRow) => Promise<Result>) =>
    failingAs(activityFailure, async ({ tenant, id }: ForgetInput) => {
      const row = await findForgetting(forTenant(pool, tenant), id);
      if (!row) throw new Failure('NotFound', `nothing with the id ${id} is to be forgotten`);
      return work(tenant, row);
    });
  return {
    stop_forgotten: step(async (tenant, row) => {
      const db = forTenant(pool, tenant);
      const isRunning = async (key: string): Promise<boolean> =>
        (await temporal.stateOf(sessionWorkflowId(tenant, key))) === 'running';
      const stopped = new Set<string>();
      // While some are stopped, others begin: work that these give away, and what is said in one that was stopped.
      for (let pass = 1; ; pass += 1) {
        const until = await readClock(pool);
        const open = [];
        for (const session of await noteForgottenSessions(db, row))
          if (!stopped.has(session.key) || (await isRunning(session.key))) open.push(session);
        if (open.length === 0 || pass > MAX_PASSES) return noteStopped(db, row.id, until);
        for (const session of open) await stopSession(deps, tenant, session);
        for (const { key } of open) {
          while (await isRunning(key))
            await sleep(LOOK_MS, undefined, { signal: Context.current().cancellationSignal });
          stopped.add(key);
        }
      }
    }),

    forget_runs: step(async (tenant, { id, sessions, until }) => {
      for (const session of sessions) {
        const removed = await temporal.removeRuns(tenant, { session }, until ?? new Date());
        await countForgotten(forTenant(pool, tenant), id, 'runs', removed);
      }
    }),

    forget_rows: step(async (tenant, row) => {
      const { id, kind, subject, sessions, until } = row;
      const isUser = kind === 'user';
      const onRemoved = (db: Db, what: string, count: number) =>
        countForgotten(forTenant(db, tenant), id, what, count);
      const own = [...sessions.map((session) => ({ session })), ...(isUser ? [{ user: subject }] : [])];
      const removeParts = async (after: ForgetPart['after']): Promise<void> => {
        for (const { counted, remove } of parts.filter((one) => one.after === after))
          for (const of of own) await onRemoved(pool, counted, await remove(tenant, of));
      };
      await removeParts(undefined);
      for (const session of sessions)
        await removeSessionRows(pool, rows, tenant, session, until ?? row.created_at, onRemoved);
      const owned = sessions.map((session) => ['session', session] as const);
      for (const [scope, name] of isUser ? [...owned, ['user', subject] as const] : owned)
        await workspaces.remove(tenant, ownSuffix(scope, name), (db, count) =>
          onRemoved(db, 'workspaces', count),
        );
      if (isUser) await removeUserRows(pool, rows, tenant, subject, onRemoved);
      await removeEmbeddings(forTenant(pool, tenant), onRemoved);
      await removeParts('rows');
      await endForgetting(forTenant(pool, tenant), id);
      return (await findForgetting(forTenant(pool, tenant), id))?.removed ?? {};
    }),
  };
}

/** Stops the session with everything that it has left running. */
async function stopSession(
  { pool, temporal }: ForgettingDeps,
  tenant: string,
  { key, agent }: { readonly key: string; readonly agent: string },
): Promise<void> {
  const [last] = await listTurns(forTenant(pool, tenant), key, 1, undefined);
  if (!last) return;
  const stop = { level: 'all', turn_id: last.id, by: FORGET_BY, reason: 'it is being forgotten' } as const;
  if (last.ended_at === null && (await temporal.stop(tenant, key, stop))) return;
  await temporal.stopIdle(tenant, key, stop, { agent, summary: `${agent}: stop of ${key}` });
}
