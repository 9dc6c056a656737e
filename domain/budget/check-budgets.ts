/** Which budgets are impossible or senseless although their fields are valid. */
import { BUDGET_MEASURES, type Budget } from './budget.ts';
import { isName, isSessionKey } from '../ids.ts';

/** Undefined for a budget that can be used; otherwise the reason. */
export function budgetProblem(budget: Budget): string | undefined {
  const limited = BUDGET_MEASURES.filter((measure) => budget[measure] !== undefined);
  if (limited.length === 0) return `names no limit; give one of ${BUDGET_MEASURES.join(', ')}`;
  const { scope, subject, period = 'total', reserve = {} } = budget;
  const problem = subjectProblem(scope, subject);
  if (problem !== undefined) return problem;
  if (scope === 'turn' && period !== 'total') return 'a turn has one total, no period';
  for (const measure of ['tokens', 'usd', 'seconds'] as const) {
    const limit = budget[measure];
    const required = reserve[measure];
    if (required === undefined) continue;
    if (limit === undefined) return `reserve.${measure} is given without a limit on ${measure}`;
    if (required > limit) return `reserve.${measure} is more than the limit, so that nothing could run`;
  }
  return undefined;
}

function subjectProblem(scope: Budget['scope'], subject: string | undefined): string | undefined {
  if (subject === undefined) return undefined;
  if (scope === 'turn' || scope === 'tenant') return `a budget of a ${scope} has no subject`;
  if (scope === 'session' ? isSessionKey(subject) : isName(subject)) return undefined;
  return `subject "${subject}" is no key of ${scope === 'agent' ? 'an' : 'a'} ${scope}, so that the budget would hold for nobody`;
}

/** Finds two budgets of one list that would use the same account: [index of the second, its name]. */
export function sameBudgetTwice(budgets: readonly Budget[]): readonly [number, string] | undefined {
  const seen = new Set<string>();
  for (const [index, { scope, subject, period = 'total' }] of budgets.entries()) {
    const name = [scope, subject ?? 'each', period].join(' ');
    if (seen.has(name)) return [index, name];
    seen.add(name);
  }
  return undefined;
}
