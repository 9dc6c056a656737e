/** Serves sessions: which there are, what they do, and what was said. It also steers and stops their turns. */
import { listMessages } from '#store/turns/message-store.ts';
import { listSessions, type SessionRow } from '#store/turns/session-store.ts';
import { readSessionTree } from '#store/turns/session-tree.ts';
import { findOpenOrLastTurn, findTurn, listTurns } from '#store/turns/turn-store.ts';
import { stopAssignments } from '#temporal/stop-assignments.ts';
import { Failure } from '#domain/errors.ts';
import { sessionWorkflowId } from '#domain/ids.ts';
import { sessions } from '#domain/resource/sessions.ts';
import { AGENT_TURN } from '#domain/turn/turn.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { Api, ApiDeps } from '../../deps.ts';
import { reachableSession } from '../../found.ts';
import { assignmentsToStop } from '../../lost-work.ts';
import { isNumberKeys, readPage, readCreatedPage, readTimePage } from '../../server/pages.ts';
import { type Call, serveResource } from '../../serve-resource.ts';
import { steerTurn } from '../../submit-message.ts';
import { createTemporalLink, type TemporalLink } from '../../temporal-links.ts';
import { hasEnded } from '../../turn-wait.ts';
import { pageOfAssignments, showSubagent } from '../assignments.ts';
import { contextOf, newId, receiptOf } from './messages.ts';
import { showTurn } from './turns.ts';

export function addRoutes(app: Api, deps: ApiDeps): void {
  const { pool } = deps;
  const link = createTemporalLink(deps.settings);

  serveResource(
    app,
    sessions,
    {
      listSessions: ({ caller: { tenant, confinedTo }, query }) =>
        readTimePage(
          query,
          (limit, after) => listSessions(forTenant(pool, tenant), { ...query, confinedTo }, limit, after),
          (row) => [row.updated_text, row.key],
          (row) => showSession(tenant, row, link),
        ),
      async getSession({ caller, tenant, params }) {
        const row = await reachableSession(pool, caller, params.key);
        return row && showSession(tenant, row, link);
      },
      listSessionTurns: ({ tenant, db, params, query }) =>
        readCreatedPage(
          query,
          (limit, after) => listTurns(db, params.key, limit, after),
          (row) => showTurn(tenant, row, link),
        ),
      listMessages: ({ db, params, query }) =>
        readPage(
          query,
          (limit, after) => listMessages(db, params.key, query.order, limit, after && String(after[0])),
          (row) => [Number(row.position)],
          isNumberKeys(1),
        ),
      listSubagents({ tenant, params, query }) {
        const filter = { kind: 'subagent', session: params.key, status: query.status } as const;
        return pageOfAssignments(deps, tenant, query, filter, (row) => showSubagent(row, link));
      },
      getSessionTree: ({ caller, db, params }) => readSessionTree(db, params.key, caller.confinedTo),
      async steerTurn({ caller, tenant, params: { key }, body, request }) {
        const { text, turn_id, ...context } = body;
        const accepted = await steerTurn(
          deps,
          tenant,
          {
            ...newId(request, caller, 'steer', key),
            session: key,
            text,
            mode: 'steer',
            context: contextOf(caller, context),
            confinedTo: caller.confinedTo,
          },
          turn_id,
        );
        return receiptOf(key, accepted);
      },
      stopTurn: (call) => stopTurn(deps, call),
    },
    (caller, key) => reachableSession(pool, caller, key),
  );
}

type StopCall = Call<(typeof sessions.operations)['stopTurn']>;

async function stopTurn(deps: ApiDeps, call: StopCall) {
  const { tenant, by, db, params, body } = call;
  const { key } = params;
  const { level, turn_id, reason } = body;
  const turn = await (turn_id === undefined ? findOpenOrLastTurn(db, key) : findTurn(db, turn_id));
  if (turn_id === undefined && (!turn || hasEnded(turn))) {
    if (turn && (await stopIdleSession(deps, call, turn.id)))
      return { session_key: key, turn_id: null, level };
    throw new Failure('Conflict', `No turn runs in session ${key}`);
  }
  if (turn?.session_key !== key) throw new Failure('NotFound', `No turn with this id in session ${key}`);
  if (hasEnded(turn)) throw new Failure('StaleTurn', `Turn ${turn.id} has ended: ${turn.status}`);
  if (!(await deps.temporal.stop(tenant, key, { level, turn_id: turn.id, by, reason })))
    throw new Failure('StaleTurn', `Turn ${turn.id} does not run`);
  return { session_key: key, turn_id: turn.id, level };
}

/**
 * Stops what runs in a session whose last turn has ended and cannot stop it. Returns false if there is nothing. Only a
 * worker knows of background commands, so `all` returns true for each session that had a turn.
 */
async function stopIdleSession(
  deps: ApiDeps,
  { caller, tenant, by, params: { key }, body: { level, reason } }: StopCall,
  lastTurn: string,
): Promise<boolean> {
  if (level === 'step') return false;
  const session = await reachableSession(deps.pool, caller, key);
  if (!session) return false;
  const stop = { level, turn_id: lastTurn, by, reason };
  if (level === 'now') {
    const ended = await stopAssignments(assignmentsToStop(deps), tenant, key, by);
    // A session that works on an assignment waits for what has just been ended.
    await deps.temporal.signal(sessionWorkflowId(tenant, key), AGENT_TURN.signals.stop, stop);
    return ended > 0;
  }
  const agent = session.agent_key;
  await deps.temporal.stopIdle(tenant, key, stop, { agent, summary: `${agent}: stop of ${key}` });
  return true;
}

function showSession(tenant: string, row: SessionRow, link: TemporalLink) {
  const workflowId = sessionWorkflowId(tenant, row.key);
  return {
    ...row,
    agent: row.agent_key,
    user: row.user_id,
    status: row.open_status ?? ('idle' as const),
    turn_id: row.open_turn,
    last_event_id: row.event_seq,
    workflow_id: workflowId,
    links: { temporal: link(workflowId, row.open_run) },
  };
}
