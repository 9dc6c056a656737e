/** Budgets as activities use them (DU-7): what is settled by itself, and the question for more. The rest is in turn-ledger.ts. */
import type { AlwaysOffer } from '#domain/approval.ts';
import type { ApprovalTerms } from '#domain/approval-terms.ts';
import type { Budget, BudgetAmounts, BudgetAsk, BudgetExceeded, BudgetRoot, Spent } from '#domain/budget.ts';
import type { NewEvent } from '#domain/event.ts';
import type { ModelUse } from '#domain/model-use.ts';
import { askForMore } from './approval-questions.ts';
import { settleApproval } from './approval-record.ts';
import type { Pool } from './pool.ts';
import { callWithin, createSqlCall } from './sql-call.ts';
import type { Transaction } from './database.ts';
import { readRows } from './statements.ts';

/** What is to be reserved for one attempt of a call, where a budget applies. */
export interface BudgetRequest {
  /** Of the activity, from 1: what earlier ones hold counts as spent. */
  readonly attempt: number;
  /** Names a model call by its answer; a tool's call names itself. */
  readonly holder?: string;
  /** Where neither the budget nor the call before says more. */
  readonly reserve: BudgetAmounts;
  /** The budgets of the settings, when there are any. */
  readonly settings?: readonly Budget[];
  /** What is expected is a price, not a guess: it is held whole, also where it is more than the limit, which then has no room. */
  readonly exact?: true;
  /** Of work that belongs to no session: its agent's and the tenant's budgets hold. */
  readonly root?: { readonly agent: string };
}

export type BudgetHold =
  | { readonly held: true }
  | { readonly held?: never; readonly exceeded: BudgetExceeded };

/** Without `spent` the attempt counts as what it held. */
export interface BudgetSettlement {
  readonly attempt: number;
  readonly spent?: Spent;
}

/** An approval that asks for more. */
export interface NewBudgetAsk {
  readonly id: string;
  /** The answer that waits for it. */
  readonly call_id: string;
  readonly tool: string;
  readonly args: BudgetAsk;
  readonly summary: string;
  readonly digest: string;
  readonly reason: string;
  readonly terms: ApprovalTerms;
  readonly always: AlwaysOffer;
  /** ISO 8601, by the database's clock. */
  readonly expires_at: string;
  /** Of work at a gate, which no turn may do or wait for. */
  readonly asker?: { readonly agent: string; readonly user?: string };
}

/** A command, or a question for vectors, beside a turn's calls. */
export interface BudgetedWork {
  readonly tenant: string;
  /** Empty for work that belongs to none; then it says its `agent`. */
  readonly session: string;
  readonly agent?: string | undefined;
  /** Whose root it counts for; null: the session's. */
  readonly turn: string | null;
  /** The turn, delegation or judging at whose end it counts as spent when nobody has settled it. */
  readonly owner: string;
  /** Names it. */
  readonly holder: string;
  /** What it may use of tokens and money; absent: none. */
  readonly expected?: Pick<BudgetAmounts, 'tokens' | 'usd'>;
}

export interface BudgetLedger {
  /** Null when no budget applies. The same attempt again keeps what it holds. */
  reserve(work: BudgetedWork, request: BudgetRequest): Promise<BudgetHold | null>;
  /** What a turn used models for without an answer. A repeat notes it again. */
  noteUses(
    key: { readonly tenant: string; readonly session: string; readonly turn: string },
    uses: readonly ModelUse[],
  ): Promise<void>;
  /** Safe to repeat. */
  settle(tenant: string, holder: string, settlement: BudgetSettlement): Promise<void>;
  /** When the question expires, in milliseconds since 1970; undefined when the turn is over. Safe to repeat. */
  ask(
    key: { readonly tenant: string; readonly session: string; readonly turn: string },
    approval: NewBudgetAsk,
    events: readonly NewEvent[],
  ): Promise<number | undefined>;
  /** By the database's clock, in milliseconds since 1970. */
  now(): Promise<number>;
  /** Ends a question that nobody waits for. Safe to repeat; nothing to do when it is not there or is decided. */
  takeBack(key: { readonly tenant: string; readonly session: string }, approval: string): Promise<void>;
}

/** `onWrite` is told after each commit that may have added events. */
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
      const until = await askForMore(pool, key, approval, events);
      onWrite(key.tenant, key.session);
      return until;
    },

    async now() {
      const rows = await readRows<{ now: number }>(pool)`
    select (extract(epoch from clock_timestamp()) * 1000)::float as now`;
      return rows[0]?.now ?? Date.now();
    },

    async takeBack({ tenant, session }, id) {
      await settleApproval(pool, { tenant, id, status: 'withdrawn', by: 'system', key: 'taken-back' });
      onWrite(tenant, session);
    },
  };
}

/** Whose budgets a turn's use counts for; null where there is no such session. */
export function readBudgetRoot(
  tx: Transaction,
  tenant: string,
  session: string | null,
  turn: string | null,
): Promise<BudgetRoot | null> {
  return callWithin(tx, 'budget_root_of', [tenant, session, turn]);
}
