/** `/v1/langgraph/threads`: sessions. A thread is kept from its first message on; before, it is only an id. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Api, ApiDeps } from '#api/deps.ts';
import { noSession, reachableSession } from '#api/found.ts';
import { type Caller, callerOf } from '#api/server/auth.ts';
import { Failure } from '#domain/errors.ts';
import { sessionKeySchema } from '#domain/schema/scalars.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findSession, listSessions, type SessionRow } from '#store/turns/session-store.ts';
import { listTurns } from '#store/turns/turn-store.ts';
import { readMessages, readWaits, statesOf, threadOf } from '../state.ts';
import { pageSchema } from './assistants.ts';

export const threadParams = z.object({ thread: sessionKeySchema });
const MAX_STATES = 50;

const creation = z.looseObject({
  thread_id: sessionKeySchema.nullish(),
  if_exists: z.enum(['raise', 'do_nothing']).nullish(),
});
const history = z.looseObject({ limit: z.coerce.number().int().min(1).max(1_000).default(10) });

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;

  app.post(
    '/v1/langgraph/threads',
    { config: { scope: 'run' }, schema: { hide: true, body: creation } },
    async (request) => {
      const { thread_id: id, if_exists } = request.body;
      if (id == null) return threadOf(randomUUID(), undefined);
      const row = await threadRow(deps, callerOf(request), id);
      if (row && if_exists !== 'do_nothing') throw new Failure('Conflict', `There is a thread ${id}`);
      return threadOf(id, row);
    },
  );

  app.post(
    '/v1/langgraph/threads/search',
    { config: { scope: 'read' }, schema: { hide: true, body: z.looseObject(pageSchema) } },
    async (request) => {
      const { tenant, confinedTo } = callerOf(request);
      const { limit, offset } = request.body;
      const rows = await listSessions(forTenant(pool, tenant), { confinedTo }, offset + limit, undefined);
      return rows.slice(offset).map((row) => threadOf(row.key, row));
    },
  );

  const options = { config: { scope: 'read' }, schema: { hide: true, params: threadParams } } as const;
  app.get('/v1/langgraph/threads/:thread', options, async (request) => {
    const { thread } = request.params;
    const caller = callerOf(request);
    const row = await threadRow(deps, caller, thread);
    const [state] = row ? await readStates(deps, caller, row, 1) : [];
    const interrupts = (state?.tasks ?? []).flatMap(({ id, interrupts }) =>
      interrupts.length > 0 ? [[id, interrupts] as const] : [],
    );
    return {
      ...threadOf(thread, row),
      values: state?.values ?? {},
      interrupts: Object.fromEntries(interrupts),
    };
  });

  app.get('/v1/langgraph/threads/:thread/state', options, async (request) => {
    const { thread } = request.params;
    const caller = callerOf(request);
    const row = await threadRow(deps, caller, thread);
    const [state] = row ? await readStates(deps, caller, row, 1) : [];
    return state ?? emptyState(thread);
  });

  app.post(
    '/v1/langgraph/threads/:thread/history',
    { ...options, schema: { ...options.schema, body: history } },
    async (request) => {
      const caller = callerOf(request);
      const row = await threadRow(deps, caller, request.params.thread);
      return row ? readStates(deps, caller, row, Math.min(request.body.limit, MAX_STATES)) : [];
    },
  );
}

/** Undefined when nothing was said there yet. Throws NotFound for the session of another user. */
async function threadRow({ pool }: ApiDeps, caller: Caller, thread: string): Promise<SessionRow | undefined> {
  const row = await reachableSession(pool, caller, thread);
  if (!row && (await findSession(forTenant(pool, caller.tenant), thread))) throw noSession();
  return row;
}

/** The newest first. */
async function readStates({ pool }: ApiDeps, caller: Caller, row: SessionRow, limit: number) {
  const db = forTenant(pool, caller.tenant);
  const turns = await listTurns(db, row.key, limit + 1, undefined);
  const waits = await readWaits(db, caller, row);
  return statesOf(row.key, turns, await readMessages(db, row.key), waits).slice(0, limit);
}

function emptyState(thread_id: string): object {
  return {
    values: {},
    next: [],
    checkpoint: { thread_id, checkpoint_ns: '', checkpoint_id: null, checkpoint_map: null },
    metadata: {},
    created_at: null,
    parent_checkpoint: null,
    tasks: [],
  };
}
