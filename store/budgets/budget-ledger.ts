/**
 * Budgets as activities use them (DU-7): separate reservations and settlements, and the question for more. The rest is
 * in turn-ledger.ts.
 */
import type { BudgetAmounts, BudgetExceeded, BudgetRoot, BudgetSettlement } from '#domain/budget/budget.ts';
import type { Budget } from '#domain/schema/budget.ts';
import type { NewEvent } from '#domain/event.ts';
import type { ModelUse } from '#domain/budget/model-use.ts';
import { askForMore, type NewBudgetAsk } from '../approvals/approval-questions.ts';
import { settleApproval } from '../approvals/approval-record.ts';
import type { Pool } from '../postgres/pool.ts';
import { callWithin, createSqlCall } from '../postgres/sql-call.ts';
import { readRows } from '../postgres/statements.ts';
import { forTenant, type TenantTx } from '../postgres/tenant-db.ts';

/** What has to be reserved for one attempt of a call, where a budget applies. */
export interface BudgetRequest {
  /** The activity's attempt, from 1: reservations of earlier ones count as spent. */
  readonly attempt: number;
  /** Identifies a model call by its answer; a tool's call identifies itself. */
  readonly holder?: string;
  /** Used when neither the budget nor the previous call determines the amount. */
  readonly reserve: BudgetAmounts;
  /** The budgets of the settings, if any. */
  readonly settings?: readonly Budget[];
  /** The expected amount is a price, not an estimate: it is reserved whole, and refused when it exceeds the limit. */
  readonly exact?: true;
  /** For work without a session: its agent's and the tenant's budgets apply. */
  readonly root?: { readonly agent: string };
}

export type BudgetHold =
  | { readonly held: true }
  | { readonly held?: never; readonly exceeded: BudgetExceeded };

/** A command, or a request for embeddings, besides a turn's calls. */
export interface BudgetedWork {
  readonly tenant: string;
  /** Key of the session; empty for work without one, which then has `agent`. */
  readonly session: string;
  readonly agent?: string | undefined;
  /** The turn whose root it counts for; null means the session's. */
  readonly turn: string | null;
  /** The turn, delegation or judging whose end counts it as spent if it was not settled. */
  readonly owner: string;
  /** Identifies the work. */
  readonly holder: string;
  /** Tokens and money that it may use; absent means none. */
  readonly expected?: Pick<BudgetAmounts, 'tokens' | 'usd'>;
}

export interface BudgetLedger {
  /** Null when no budget applies. The same attempt again keeps its reservation. */
  reserve(work: BudgetedWork, request: BudgetRequest): Promise<BudgetHold | null>;
  /** Records what a turn used models for without an answer. A repeat records it again. */
  noteUses(
    key: { readonly tenant: string; readonly session: string; readonly turn: string },
    uses: readonly ModelUse[],
  ): Promise<void>;
  /** Safe to repeat. */
  settle(tenant: string, holder: string, settlement: BudgetSettlement): Promise<void>;
  /** Returns the expiry in milliseconds since 1970; undefined when the turn is over. Safe to repeat. */
  ask(
    key: { readonly tenant: string; readonly session: string; readonly turn: string },
    approval: NewBudgetAsk,
    events: readonly NewEvent[],
  ): Promise<number | undefined>;
  /** The database's clock, in milliseconds since 1970. */
  now(): Promise<number>;
  /** Ends a question that nobody waits for. Safe to repeat; it does nothing when the question is absent or decided. */
  takeBack(key: { readonly tenant: string; readonly session: string }, approval: string): Promise<void>;
}

/** `onWrite` is called after each commit that may have added events. */
export function createBudgetLedger(
  pool: Pool,
  onWrite: (tenant: string, session: string) => void,
): BudgetLedger {
  const call = createSqlCall(pool);
  return {
    reserve({ tenant, session, turn, owner, holder, expected, agent }, request) {
      const max = expected ? JSON.stringify(expected) : null;
      const required: BudgetRequest = agent === undefined ? request : { ...request, root: { agent } };
      return call('reserve_budget', [tenant, session, turn, holder, max, JSON.stringify(required), owner]);
    },

    noteUses: ({ tenant, session, turn }, uses) =>
      call('note_model_uses', [tenant, session, turn, JSON.stringify(uses)]),

    settle: (tenant, holder, { attempt, spent }) =>
      call('settle_budget', [tenant, holder, attempt, spent ? JSON.stringify(spent) : null]),

    async ask(key, approval, events) {
      const until = await askForMore(forTenant(pool, key.tenant), key, approval, events);
      onWrite(key.tenant, key.session);
      return until;
    },

    async now() {
      const rows = await readRows<{ now: number }>(pool)`
    select (extract(epoch from clock_timestamp()) * 1000)::float as now`;
      return rows[0]?.now ?? Date.now();
    },

    async takeBack({ tenant, session }, id) {
      const end = { tenant, id, status: 'withdrawn', by: 'system', key: 'taken-back' } as const;
      await settleApproval(forTenant(pool, tenant), end);
      onWrite(tenant, session);
    },
  };
}

/** The root whose budgets a turn's use counts for; null when the session does not exist. */
export function readBudgetRoot(
  tx: TenantTx,
  session: string | null,
  turn: string | null,
): Promise<BudgetRoot | null> {
  return callWithin(tx, 'budget_root_of', [session, turn]);
}
