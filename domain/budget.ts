/**
 * What a budget is (DU-7): limits on what work may use, reserved before it is used and settled after. Accounts are rows;
 * how they are kept is told in docs/budgets.md.
 */

import type { anyBudgetSchema } from './schema/budget.ts';
import type { Kept } from './schema/scalars.ts';

/** Whose use is counted together. A tree of subagents, delegations and tasks counts for what its root is. */
export const BUDGET_SCOPES = ['turn', 'session', 'agent', 'team', 'tenant'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** `usd` is US dollars; `seconds` is the time of model calls and costly tools; `calls` counts both. */
export const BUDGET_MEASURES = ['tokens', 'usd', 'seconds', 'calls'] as const;
export type BudgetMeasure = (typeof BUDGET_MEASURES)[number];

/** `day` and `month` begin at midnight UTC. */
export const BUDGET_PERIODS = ['total', 'day', 'month'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Ask a person for more, or stop with what there is. */
export const ON_LIMIT = ['ask', 'stop'] as const;
export type OnLimit = (typeof ON_LIMIT)[number];

export type BudgetAmounts = { readonly [Measure in BudgetMeasure]?: number | undefined };

/** The limits are the amounts; a measure without one is not limited. `reserve` is DEFAULT_RESERVE where nothing is said. */
export type Budget = Kept<typeof anyBudgetSchema>;

/** Scopes that an agent's own row may limit. */
export const AGENT_BUDGET_SCOPES = ['turn', 'session', 'agent'] as const;

/** A call of a small model with a short prompt; never more than the limit itself. */
export const DEFAULT_RESERVE = { tokens: 2_000, usd: 0.01, seconds: 10 } as const;

/** The `tool` of an approval that asks for more; no tool can be called so. */
export const BUDGET_ASK = 'budget.more';

/** Of a tenant, and in the settings. */
export const MAX_BUDGETS = 200;
/** Of an agent's row. */
export const MAX_AGENT_BUDGETS = 10;

/** What one call has used; without `usd` its price is not known, and it counts as what was reserved. */
export interface Spent {
  readonly tokens: number;
  readonly usd?: number;
  readonly seconds: number;
  readonly calls: number;
}

/** Which account had no room for a call, by how much. Amounts are in the measure's unit. */
export interface BudgetExceeded {
  readonly id: string;
  readonly scope: BudgetScope;
  /** Empty for a tenant. */
  readonly subject: string;
  /** First day of the period, `YYYY-MM-DD`. */
  readonly since: string;
  readonly measure: BudgetMeasure;
  /** As the budget says, without what was allowed on top. */
  readonly limit: number;
  /** Allowed on top since. */
  readonly extra: number;
  readonly spent: number;
  /** Held for calls that run. */
  readonly reserved: number;
  /** What this call would have reserved. */
  readonly wanted: number;
  readonly on_limit: OnLimit;
}

/** What an approval that asks for more shows and grants; only `more` can be edited. */
export interface BudgetAsk {
  readonly budget: string;
  readonly scope: BudgetScope;
  readonly subject: string;
  readonly since: string;
  readonly measure: BudgetMeasure;
  readonly more: number;
}

/** Whose budgets the use of a session or a turn counts for; a tree of work has its root's. */
export interface BudgetRoot {
  readonly turn?: string;
  readonly session?: string | readonly string[];
  readonly agent?: string;
  readonly team?: readonly string[];
}

/**
 * That of a session which works for a team: what it uses counts for the team, and, where a turn has asked for the work, for all that
 * this turn's use counts for. Teams within teams all count.
 */
export function teamRoot(root: BudgetRoot | null, team: string): BudgetRoot {
  const teams = root?.team ?? [];
  return { ...root, team: teams.includes(team) ? teams : [...teams, team] };
}
