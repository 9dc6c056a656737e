/** Assignments: rows as the tools leave them, and work that runs until a test ends it. */
import { insertAgentLink } from '#store/assignments/agent-link-store.ts';
import { insertAgent } from '#store/agent-store.ts';
import type { Pool } from '#store/postgres/pool.ts';
import type { AssignmentEnd } from '#store/assignments/end-assignment.ts';
import { takeAssignment, type TakenPlace } from '#store/assignments/take-assignment.ts';
import {
  type DelegationRequest,
  newDelegation,
  newSubagent,
  type SpawnLimits,
  type SubagentRequest,
  workContext,
} from '#domain/assignment/new-assignment.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { LiveWorker } from './live-worker.ts';

/** Allows the agent `main` to delegate to these. */
export async function linkMain(pool: Pool, tenant: string, targets: readonly string[]): Promise<void> {
  for (const target of targets) {
    const link = { id: `lnk-${target}`, source: 'main', target, max_concurrent: 0 } as const;
    const more = { direction: 'outbound', status: 'active', settings: {}, description: null } as const;
    await insertAgentLink(forTenant(pool, tenant), { ...link, ...more }, 'test');
  }
}

const TAKER = { key: 'taker', type: 'open', model: 'rehearsal/follow' } as const;

/** A delegation from `main`, in a tool that holds; returns its id. */
export async function heldDelegation(live: LiveWorker, name: string): Promise<string> {
  const task = `hold {"note":"${name}-given"}\nthen\nHeld.`;
  const call = `delegate ${JSON.stringify({ agent_key: TAKER.key, task })}`;
  await beginWork(live, `${name}-given`, `${call}\nthen\nGiven.`);
  return idOf(live, 'delegation', `${name}-given`);
}

/** An evaluation that `main` started; its generator is in a tool that holds. */
export async function heldEvaluation(live: LiveWorker, name: string): Promise<string> {
  const task = `hold {"note":"${name}-judged"}\nthen\nHeld.`;
  const args = { generator: TAKER.key, evaluator: TAKER.key, task };
  await beginWork(live, `${name}-judged`, `evaluate_loop ${JSON.stringify(args)}\nthen\nDone.`);
  return idOf(live, 'evaluation', `${name}-judged`);
}

async function beginWork(live: LiveWorker, session: string, text: string): Promise<void> {
  await insertAgent(forTenant(live.pool, live.tenant), TAKER, 'test');
  await linkMain(live.pool, live.tenant, [TAKER.key]);
  await live.say(session, text);
  await live.probes.untilHeld(session);
}

async function idOf(live: LiveWorker, kind: 'delegation' | 'evaluation', session: string): Promise<string> {
  const { rows } = await live.pool.query<{ id: string }>(
    'select id from assignments where tenant_id = $1 and origin_session = $2 and kind = $3',
    [live.tenant, session, kind],
  );
  if (!rows[0]) throw new Error(`nothing was begun in ${session}`);
  return rows[0].id;
}

/** Starts two in a session of their own, each in a tool that holds; returns their ids. */
export async function twoSubagents(
  live: LiveWorker,
  name: string,
): Promise<{ readonly stopped: string; readonly steered: string }> {
  const notes = [`${name}-stopped`, `${name}-steered`];
  const calls = notes.map(
    (note) => `spawn ${JSON.stringify({ task: `hold {"note":"${note}"}\nthen\nHeld.`, label: note })}`,
  );
  const { turn_id } = await live.say(`${name}-subagents`, `${calls.join('\n')}\nthen\nOn it.`);
  await live.ended(turn_id);
  for (const note of notes) await live.probes.untilHeld(note);
  const { rows } = await live.pool.query<{ id: string }>(
    'select id from assignments where tenant_id = $1 and origin_session = $2 order by label desc',
    [live.tenant, `${name}-subagents`],
  );
  const [stopped, steered] = rows;
  if (!stopped || !steered) throw new Error('two subagents should run');
  return { stopped: stopped.id, steered: steered.id };
}

const ROOMY: SpawnLimits = { depth: 1, concurrent: 100, children: 100, iterations: 5 };

/** Leaves it as the tool does, before its workflow has started. */
export function takeSubagent(
  pool: Pool,
  tenant: string,
  at: { readonly session: string; readonly turn: string; readonly call?: string },
  id: string,
  overrides: Partial<SubagentRequest> = {},
  limits: SpawnLimits = ROOMY,
): Promise<TakenPlace> {
  const call = { tenant, sessionKey: at.session, turnId: at.turn, callId: at.call ?? `call_${id}` };
  const request: SubagentRequest = {
    id,
    label: id,
    task: 'x',
    model: undefined,
    thinking: undefined,
    mode: 'async',
    announce: 'queue',
    detached: false,
    timeout_seconds: 600,
    within: [],
    ...overrides,
  };
  return takeAssignment(forTenant(pool, tenant), call, {
    id,
    kind: 'subagent',
    decide: (origin, inUse) => newSubagent(origin, request, inUse, limits),
    first: { text: request.task, context: (context) => context },
  });
}

/** Does the same for a delegation, from the session and turn of an agent `source`. */
export function takeDelegation(
  pool: Pool,
  tenant: string,
  source: string,
  requested: DelegationRequest,
): Promise<TakenPlace> {
  const { id, link, target } = requested;
  const call = { tenant, sessionKey: source, turnId: `turn_${source}`, callId: `call_${id}` };
  return takeAssignment(forTenant(pool, tenant), call, {
    id,
    kind: 'delegation',
    link,
    target,
    decide: (origin, inUse) => newDelegation(origin, requested, inUse, 5),
    first: { text: requested.task, context: workContext },
  });
}

export const COMPLETED: AssignmentEnd = {
  status: 'completed',
  result: 'r',
  error: null,
  warnings: [],
  by: null,
  silent: false,
  call: { ok: true, text: 'r' },
};
