/** A question for more budget at the limit (DU-7): who has used how much, how much more is requested, and the texts. */
import {
  BUDGET_MEASURES,
  BUDGET_SCOPES,
  type BudgetAsk,
  type BudgetExceeded,
  type BudgetMeasure,
} from './budget.ts';

/** The most that a person may add in one decision, in any measure. */
export const MAX_MORE = 1e12;

/** Requests as much as the limit again, or what this call lacks if that is more. */
export function askFor(exceeded: BudgetExceeded): BudgetAsk {
  const { id, scope, subject, since, measure, limit } = exceeded;
  const more = roundUp(Math.max(limit, lackOf(exceeded)), measure);
  return { budget: id, scope, subject, since, measure, more };
}

/** `session s1 has used $4.99 of $5.00 (budget …); the next call may need $0.02`. */
export function exceededWords(exceeded: BudgetExceeded): string {
  const { id, scope, subject, measure, limit, extra, spent, reserved, required } = exceeded;
  const who = subject === '' ? `the ${scope}` : `${scope} ${subject}`;
  const running = reserved > 0 ? ` and holds ${amountText(measure, reserved)} for calls that run` : '';
  const max = amountText(measure, limit + extra);
  return `${who} has used ${amountText(measure, spent)} of ${max}${running} (budget ${id}); the next call may need ${amountText(measure, required)}`;
}

/** `budget: $5.00 more for session s1`, the line that people see everywhere. */
export function askSummary(ask: BudgetAsk): string {
  const who = ask.subject === '' ? `the ${ask.scope}` : `${ask.scope} ${ask.subject}`;
  return `budget: ${amountText(ask.measure, ask.more)} more for ${who}`;
}

export function amountText(measure: BudgetMeasure, amount: number): string {
  if (measure === 'usd') return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
  if (measure === 'seconds') return `${Math.round(amount * 10) / 10} s`;
  return `${Math.round(amount)} ${measure}`;
}

/** Returns the question as an approver edited it; undefined unless only `more` differs and is an amount above 0. */
export function editedAsk(
  request: unknown,
  edited: Readonly<Record<string, unknown>>,
): BudgetAsk | undefined {
  const ask = readAsk(request);
  const { more, ...rest } = edited;
  if (!ask || typeof more !== 'number' || !(more > 0 && more <= MAX_MORE)) return undefined;
  const same = Object.entries(rest).every(([field, value]) => ask[field as keyof BudgetAsk] === value);
  return same ? { ...ask, more } : undefined;
}

function readAsk(value: unknown): BudgetAsk | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { budget, scope, subject, since, measure, more } = value as Record<string, unknown>;
  const knownScope = BUDGET_SCOPES.find((each) => each === scope);
  const knownMeasure = BUDGET_MEASURES.find((each) => each === measure);
  if (!knownScope || !knownMeasure || typeof more !== 'number') return undefined;
  if (typeof budget !== 'string' || typeof subject !== 'string' || typeof since !== 'string')
    return undefined;
  return { budget, scope: knownScope, subject, since, measure: knownMeasure, more };
}

function lackOf({ limit, extra, spent, reserved, required }: BudgetExceeded): number {
  return spent + reserved + required - limit - extra;
}

/** Rounds up to what people read: whole tokens, calls and seconds, and hundredths of a cent. */
function roundUp(amount: number, measure: BudgetMeasure): number {
  const parts = measure === 'usd' ? 10_000 : 1;
  // Errors of binary fractions must not add a whole unit.
  return Math.ceil(Math.round(amount * parts * 1e6) / 1e6) / parts;
}
