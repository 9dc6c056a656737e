/**
 * What a budget is (DU-7): limits on what work may use, reserved before use and settled after it. Accounts are rows;
 * docs/budgets.md describes how they are kept.
 */

/** Whose use is counted together. A tree of subagents, delegations and tasks counts for the scopes of its root. */
export const BUDGET_SCOPES = ['turn', 'session', 'agent', 'team', 'tenant'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** `usd` is US dollars; `seconds` is the time of model calls and costly tools; `calls` counts both. */
export const BUDGET_MEASURES = ['tokens', 'usd', 'seconds', 'calls'] as const;
export type BudgetMeasure = (typeof BUDGET_MEASURES)[number];

/** `day` and `month` start at midnight UTC. */
export const BUDGET_PERIODS = ['total', 'day', 'month'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** At the limit, the work asks a person for more, or stops with what it has. */
export const ON_LIMIT = ['ask', 'stop'] as const;
export type OnLimit = (typeof ON_LIMIT)[number];

export type BudgetAmounts = { readonly [Measure in BudgetMeasure]?: number | undefined };

/** Scopes that a budget in an agent's row may have. */
export const AGENT_BUDGET_SCOPES = ['turn', 'session', 'agent'] as const;

/** What a call of a small model with a short prompt uses; a reserve is never more than the limit itself. */
export const DEFAULT_RESERVE = { tokens: 2_000, usd: 0.01, seconds: 10 } as const;

/** The `tool` of an approval that asks for more budget; no real tool can have this name. */
export const BUDGET_ASK = 'budget.more';

/** Greatest number of budgets of a tenant, and of the settings. */
export const MAX_BUDGETS = 200;
/** Greatest number of budgets in an agent's row. */
export const MAX_AGENT_BUDGETS = 10;

/** What one call has used. Without `usd` its price is unknown, and the call counts as what was reserved. */
export interface Spent {
  readonly tokens: number;
  readonly usd?: number;
  readonly seconds: number;
  readonly calls: number;
}

/** Without `spent` the attempt counts as what it had reserved. */
export interface BudgetSettlement {
  readonly attempt: number;
  readonly spent?: Spent;
}

/** Which account was too small for a call, and by how much. Amounts are in the measure's unit. */
export interface BudgetExceeded {
  readonly id: string;
  readonly scope: BudgetScope;
  /** Key of what the account counts for; empty for a tenant. */
  readonly subject: string;
  /** First day of the period, `YYYY-MM-DD`. */
  readonly since: string;
  readonly measure: BudgetMeasure;
  /** The budget's limit, without additions. */
  readonly limit: number;
  /** Additions that people have allowed. */
  readonly extra: number;
  readonly spent: number;
  /** Reserved for calls that are running. */
  readonly reserved: number;
  /** What this call needed to reserve. */
  readonly required: number;
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

/** The owner whose budgets count the use of a session or turn; all work of a tree counts for its root. */
export interface BudgetRoot {
  readonly turn?: string;
  readonly session?: string | readonly string[];
  readonly agent?: string;
  readonly team?: readonly string[];
}

/**
 * The root for a session that works for a team: its use counts for the team. If a turn requested the work, it also
 * counts for everything that this turn's use counts for. With nested teams, every team counts.
 */
export function teamRoot(root: BudgetRoot | null, team: string): BudgetRoot {
  const teams = root?.team ?? [];
  return { ...root, team: teams.includes(team) ? teams : [...teams, team] };
}
