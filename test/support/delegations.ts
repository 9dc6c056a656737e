/** Work that was given away and runs until a test ends it. */
import { insertAgentLink } from '#store/agent-link-store.ts';
import { insertAgent } from '#store/agent-store.ts';
import type { Pool } from '#store/pool.ts';
import type { LiveWorker } from './live-worker.ts';

/** The agent `main` may give work to these. */
export async function linkMain(pool: Pool, tenant: string, targets: readonly string[]): Promise<void> {
  for (const target of targets) {
    const link = { id: `lnk-${target}`, source: 'main', target, max_concurrent: 0 } as const;
    const more = { direction: 'outbound', status: 'active', settings: {}, description: null } as const;
    await insertAgentLink(pool, tenant, { ...link, ...more }, 'test');
  }
}

const TAKER = { key: 'taker', type: 'open', model: 'rehearsal/follow' } as const;

/** Given by `main`, in a tool that holds; returns its id. */
export async function heldDelegation(live: LiveWorker, name: string): Promise<string> {
  const task = `hold {"note":"${name}-given"}\nthen\nHeld.`;
  const call = `delegate ${JSON.stringify({ agent_key: TAKER.key, task })}`;
  await beginWork(live, `${name}-given`, `${call}\nthen\nGiven.`);
  return idOf(live, 'delegations', `${name}-given`);
}

/** Begun by `main`; its generator is in a tool that holds. */
export async function heldEvaluation(live: LiveWorker, name: string): Promise<string> {
  const task = `hold {"note":"${name}-judged"}\nthen\nHeld.`;
  const args = { generator: TAKER.key, evaluator: TAKER.key, task };
  await beginWork(live, `${name}-judged`, `evaluate_loop ${JSON.stringify(args)}\nthen\nDone.`);
  return idOf(live, 'evaluations', `${name}-judged`);
}

async function beginWork(live: LiveWorker, session: string, text: string): Promise<void> {
  await insertAgent(live.pool, live.tenant, TAKER, 'test');
  await linkMain(live.pool, live.tenant, [TAKER.key]);
  await live.say(session, text);
  await live.probes.untilHeld(session);
}

async function idOf(
  live: LiveWorker,
  table: 'delegations' | 'evaluations',
  session: string,
): Promise<string> {
  const { rows } = await live.pool.query<{ id: string }>(
    `select id from ${table} where tenant_id = $1 and origin_session = $2`,
    [live.tenant, session],
  );
  if (!rows[0]) throw new Error(`nothing was begun in ${session}`);
  return rows[0].id;
}
