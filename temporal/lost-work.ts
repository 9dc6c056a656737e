/**
 * Ends work whose workflow was ended from outside: subagents, delegations and rounds of judging. Otherwise their rows would
 * hold their places for ever, and nobody would be told.
 */
import { Failure } from '#domain/errors.ts';
import {
  delegationWorkflowId,
  evaluationWorkflowId,
  sessionWorkflowId,
  subagentWorkflowId,
} from '#domain/ids.ts';
import { DELEGATION } from '#domain/delegation.ts';
import { EVALUATE_LOOP } from '#domain/evaluate-loop.ts';
import { isLost, LOST_END } from '#domain/lost-work.ts';
import { isSessionEnd, SUBAGENT, type SessionEnded } from '#domain/subagent.ts';
import type { WorkflowReach, WorkflowStart } from '#domain/workflow-reach.ts';
import { delegationInput, evaluationInput, subagentInput } from './assignment-inputs.ts';
import { createLostRuns } from './lost-runs.ts';
import { createDelegationStore, type DelegationRow } from '#store/delegation-store.ts';
import { createEvaluationStore, type EvaluationRow } from '#store/evaluation-store.ts';
import { tenantsWithOpenWork } from '#store/open-work.ts';
import type { Pool } from '#store/pool.ts';
import { createSubagentStore, type SubagentRow, type SubagentStore } from '#store/subagent-store.ts';
import { findOpenTurn } from '#store/turn-store.ts';

export interface LostWorkDeps {
  readonly pool: Pool;
  /** Told after each commit that may have added events to a session's feed. */
  readonly onWrite: (tenant: string, session: string) => void;
  readonly reach: Pick<WorkflowReach, 'stateOf' | 'start' | 'signal'>;
  readonly now: () => number;
  /**
   * For who only looks, and knows nothing of workers: waits no longer than this for Temporal, and leaves alone what a turn may
   * yet start.
   */
  readonly lookMs?: number;
}

/** Each method is safe to repeat, and at several places at once. */
export interface LostKind<Row> {
  /** The row as it is: ended now, when its workflow is over. As it was while Temporal is away. */
  current(tenant: string, row: Row): Promise<Row>;
  currents(tenant: string, rows: readonly Row[]): Promise<readonly Row[]>;
  /** Looks at all of the tenant that hold a place; returns how many were lost. Throws Failures. */
  sweep(tenant: string): Promise<number>;
}

export interface LostWork {
  readonly subagents: LostKind<SubagentRow>;
  readonly delegations: LostKind<DelegationRow>;
  readonly evaluations: LostKind<EvaluationRow>;
  /** All of every tenant that are older than this, sessions and team tasks as well; returns how many were lost. Throws Failures. */
  sweepAll(olderThanSeconds: number): Promise<number>;
}

interface OpenRow {
  readonly id: string;
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly error: { readonly message: string } | null;
}

interface Kind<Row extends OpenRow> {
  readonly store: {
    find(tenant: string, id: string): Promise<Row | undefined>;
    active(tenant: string): Promise<readonly Row[]>;
    finish(tenant: string, id: string, end: typeof LOST_END): Promise<unknown>;
  };
  readonly start: (tenant: string, row: Row) => WorkflowStart;
}

export function createLostWork(deps: LostWorkDeps): LostWork {
  const { pool, onWrite } = deps;
  const subagentStore = createSubagentStore(pool, onWrite);
  const subagents = lostKind(deps, {
    store: subagentStore,
    start: subagentStart,
  });
  const delegations = lostKind(deps, {
    store: createDelegationStore(pool, onWrite),
    start: delegationStart,
  });
  const evaluations = lostKind(deps, {
    store: createEvaluationStore(pool, onWrite),
    start: evaluationStart,
  });
  const runs = createLostRuns(deps);
  return {
    subagents,
    delegations,
    evaluations,
    async sweepAll(olderThanSeconds) {
      const tenants = await tenantsWithOpenWork(pool, olderThanSeconds);
      const given = tenants.flatMap((tenant) =>
        [subagents, delegations, evaluations].map((kind) => () => kind.sweep(tenant)),
      );
      const told = tenants.map((tenant) => () => tellOfSessions(deps, subagentStore, tenant));
      return sumOf([...given, ...told, () => runs.sweep(olderThanSeconds)]);
    },
  };
}

/** What goes wrong in one sweep keeps none of the others from theirs, unless what all of them need is away. */
async function sumOf(sweeps: readonly (() => Promise<number>)[]): Promise<number> {
  const problems: unknown[] = [];
  let sum = 0;
  for (const sweep of sweeps) {
    try {
      sum += await sweep();
    } catch (error) {
      if (error instanceof Failure && error.type === 'Unavailable') throw error;
      problems.push(error);
    }
  }
  if (problems.length > 0) throw problems[0];
  return sum;
}

function lostKind<Row extends OpenRow>(deps: LostWorkDeps, { store, start }: Kind<Row>): LostKind<Row> {
  /** The row as it is now; undefined when it is as it was given. */
  async function endIfLost(tenant: string, row: Row): Promise<Row | undefined> {
    if (row.ended_at !== null) return undefined;
    const again = start(tenant, row);
    const state = await deps.reach.stateOf(again.id, deps.lookMs);
    const age = deps.lookMs === undefined ? deps.now() - Date.parse(row.created_at) : 0;
    if (!isLost(state, age)) return undefined;
    // A workflow that ends by itself has recorded that before, so what is read now is how it is.
    const seen = await store.find(tenant, row.id);
    if (seen?.ended_at !== null) return seen;
    // Before the record: once the row has ended, nobody looks at it again, and all that is left to do is this workflow's.
    await deps.reach.start(again);
    await store.finish(tenant, row.id, LOST_END);
    return store.find(tenant, row.id);
  }

  async function current(tenant: string, row: Row): Promise<Row> {
    try {
      return (await endIfLost(tenant, row)) ?? row;
    } catch (error) {
      if (error instanceof Failure && error.type === 'Unavailable') return row;
      throw error;
    }
  }

  return {
    current,
    currents: (tenant, rows) => Promise.all(rows.map((row) => current(tenant, row))),
    async sweep(tenant) {
      let lost = 0;
      for (const row of await store.active(tenant)) {
        const now = await endIfLost(tenant, row);
        if (now?.error?.message === LOST_END.error.message) lost += 1;
      }
      return lost;
    },
  };
}

/**
 * A subagent whose session has ended without a word, or was ended from outside, would wait for it. One that was told takes no
 * notice.
 */
async function tellOfSessions(
  { pool, reach, now }: LostWorkDeps,
  subagents: Pick<SubagentStore, 'active' | 'outcome'>,
  tenant: string,
): Promise<number> {
  for (const { id, session_key: session, created_at } of await subagents.active(tenant)) {
    const state = await reach.stateOf(sessionWorkflowId(tenant, session));
    if (!isLost(state, now() - Date.parse(created_at))) continue;
    const isOpen = (await findOpenTurn(pool, tenant, session)) !== undefined;
    const last = isOpen ? undefined : await subagents.outcome(tenant, id);
    const seen = { status: last?.status };
    const end = isSessionEnd(seen) ? seen : SESSION_LOST;
    await reach.signal(subagentWorkflowId(id), SUBAGENT.signals.sessionEnded, end);
  }
  return 0;
}

const SESSION_LOST: SessionEnded = { status: 'failed', reason: LOST_END.error.message };

function subagentStart(tenant: string, row: SubagentRow): WorkflowStart {
  return {
    type: SUBAGENT.type,
    id: subagentWorkflowId(row.id),
    input: { ...subagentInput(tenant, row), lost: true },
    summary: `subagent: ${row.label}`,
    tenant,
    session: row.session_key,
    agent: row.agent_key,
    user: row.user_id ?? undefined,
  };
}

function delegationStart(tenant: string, row: DelegationRow): WorkflowStart {
  // No gate judges it, so their words, which would have to be hidden, are left out.
  const input = delegationInput(tenant, { ...row, gates: [] }, (text) => text);
  return {
    type: DELEGATION.type,
    id: delegationWorkflowId(row.id),
    input: { ...input, lost: true },
    summary: `${row.target_key}: ${row.label}`,
    tenant,
    session: row.session_key,
    agent: row.target_key,
    user: row.user_id ?? undefined,
  };
}

function evaluationStart(tenant: string, row: EvaluationRow): WorkflowStart {
  return {
    type: EVALUATE_LOOP.type,
    id: evaluationWorkflowId(row.id),
    input: { ...evaluationInput(tenant, row), lost: true },
    summary: `${row.generator_key} and ${row.evaluator_key}: ${row.label}`,
    tenant,
    session: row.origin_session,
    agent: row.generator_key,
    user: row.user_id ?? undefined,
  };
}
