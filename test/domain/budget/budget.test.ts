/** DU-7: what a budget can be, what is requested at its limit, and what one attempt has used. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUDGET_MEASURES, type BudgetExceeded } from '#domain/budget/budget.ts';
import { askFor, askSummary, editedAsk, exceededWords, MAX_MORE } from '#domain/budget/ask-for-more.ts';
import { createMeter } from '#domain/budget/meter.ts';
import { costsNothing } from '#domain/budget/model-use.ts';
import {
  agentBudgetsSchema,
  type Budget,
  budgetFieldsSchema,
  budgetProblem,
  sameBudgetTwice,
  settingsBudgetsSchema,
} from '#domain/schema/budget.ts';
import { createChance } from '#test/support/seeded.ts';

describe('DU-7 what a budget can be', () => {
  it('names a limit, and a reserve that fits under it', () => {
    assert.equal(budgetProblem({ scope: 'tenant', usd: 1 }), undefined);
    assert.match(budgetProblem({ scope: 'tenant' }) ?? '', /no limit/);
    assert.match(budgetProblem({ scope: 'tenant', usd: 1, reserve: { usd: 2 } }) ?? '', /nothing could run/);
    assert.match(budgetProblem({ scope: 'tenant', usd: 1, reserve: { tokens: 2 } }) ?? '', /without a limit/);
  });

  it('is of one session, agent or team, or of each', () => {
    for (const scope of ['session', 'agent', 'team'] as const)
      assert.equal(budgetProblem({ scope, subject: 'x', calls: 1 }), undefined);
    for (const scope of ['turn', 'tenant'] as const)
      assert.match(budgetProblem({ scope, subject: 'x', calls: 1 }) ?? '', /no subject/);
    assert.match(
      budgetProblem({ scope: 'agent', subject: 'a:b', calls: 1 }) ?? '',
      /"a:b" is no key of an agent/,
    );
    assert.equal(budgetProblem({ scope: 'session', subject: 'a:b', calls: 1 }), undefined);
    assert.match(budgetProblem({ scope: 'turn', calls: 1, period: 'day' }) ?? '', /no period/);
  });

  it('keeps an account of its own in each list', () => {
    const list: Budget[] = [
      { scope: 'agent', usd: 1 },
      { scope: 'agent', usd: 1, period: 'day' },
      { scope: 'agent', usd: 1, subject: 'a' },
      { scope: 'agent', calls: 5, period: 'total' },
    ];
    assert.deepEqual(sameBudgetTwice(list), [3, 'agent each total']);
    assert.equal(sameBudgetTwice(list.slice(0, 3)), undefined);
    assert.equal(settingsBudgetsSchema.safeParse(list).success, false);
  });

  it('has amounts above 0, known fields only, and for an agent its own scopes only', () => {
    for (const wrong of [{ usd: 0 }, { usd: -1 }, { tokens: 1.5 }, { calls: 1, more: 1 }, { usd: Infinity }])
      assert.equal(budgetFieldsSchema.safeParse({ scope: 'tenant', ...wrong }).success, false);
    assert.equal(agentBudgetsSchema.safeParse([{ scope: 'turn', usd: 1 }]).success, true);
    assert.equal(agentBudgetsSchema.safeParse([{ scope: 'tenant', usd: 1 }]).success, false);
    assert.equal(agentBudgetsSchema.safeParse([{ scope: 'agent', subject: 'a', usd: 1 }]).success, false);
  });
});

describe('DU-7 asking for more', () => {
  const at = (overrides: Partial<BudgetExceeded> = {}): BudgetExceeded => ({
    id: 'settings:session:*:total',
    scope: 'session',
    subject: 's1',
    since: '1970-01-01',
    measure: 'usd',
    limit: 5,
    extra: 0,
    spent: 4.99,
    reserved: 0,
    required: 0.02,
    on_limit: 'ask',
    ...overrides,
  });

  it('says who has used how much of what, and what the next call may need', () => {
    assert.equal(
      exceededWords(at()),
      'session s1 has used $4.99 of $5.00 (budget settings:session:*:total); the next call may need $0.0200',
    );
    assert.match(
      exceededWords(at({ reserved: 1, extra: 2 })),
      /\$4\.99 of \$7\.00 and holds \$1\.00 for calls that run/,
    );
    assert.match(exceededWords(at({ scope: 'tenant', subject: '' })), /^the tenant has used/);
    assert.equal(askSummary(askFor(at())), 'budget: $5.00 more for session s1');
  });

  it('what is asked for is always enough for the call that waits', () => {
    const { between } = createChance(7);
    for (let round = 0; round < 2_000; round += 1) {
      const measure = BUDGET_MEASURES[between(0, 3)] ?? 'usd';
      const unit = measure === 'usd' ? 0.01 : 1;
      const amount = () => between(1, 1_000) * unit;
      const state = {
        limit: amount(),
        extra: amount(),
        spent: amount(),
        reserved: amount(),
        required: amount(),
      };
      const { more } = askFor(at({ measure, ...state }));
      const room = state.limit + state.extra + more - state.spent - state.reserved;
      assert.ok(room >= state.required - 1e-9, JSON.stringify({ measure, ...state, more }));
      assert.ok(more >= state.limit - 1e-9);
    }
  });

  it('an approver changes how much and nothing else', () => {
    const ask = { ...askFor(at()) };
    assert.deepEqual(editedAsk(ask, { ...ask, more: 1 }), { ...ask, more: 1 });
    assert.deepEqual(editedAsk(ask, { more: 2.5 }), { ...ask, more: 2.5 });
    for (const wrong of [
      {},
      { more: 0 },
      { more: -1 },
      { more: '5' },
      { more: Number.NaN },
      { more: MAX_MORE * 2 },
      { more: 1, subject: 's2' },
      { more: 1, budget: 'other' },
      { more: 1, measure: 'tokens' },
      { more: 1, since: '2030-01-01' },
      { more: 1, extra: 1 },
    ])
      assert.equal(editedAsk(ask, wrong), undefined, JSON.stringify(wrong));
    assert.equal(editedAsk({ ...ask, scope: 'all' }, { more: 1 }), undefined);
  });
});

describe('DU-7 what an attempt has used', () => {
  const usage = (inputTokens: number, outputTokens: number) => ({
    inputTokens,
    outputTokens,
    cachedInputTokens: 0,
  });

  it('adds up the models it asked, summaries included', () => {
    const meter = createMeter();
    meter.add(usage(10, 5), 0.5);
    meter.add(usage(1, 1), 0.25);
    assert.deepEqual(meter.spent(3), { tokens: 17, usd: 0.75, seconds: 3, calls: 1 });
  });

  it('has no price when one of them has none: unknown is not free', () => {
    const meter = createMeter();
    meter.add(usage(10, 5), undefined);
    meter.add(usage(1, 1), 0.25);
    assert.deepEqual(meter.spent(1), { tokens: 17, usd: undefined, seconds: 1, calls: 1 });
  });

  it('is free only where the provider refused before it wrote', () => {
    assert.equal(costsNothing('RateLimited'), true);
    for (const code of ['Timeout', 'BadAnswer', 'Unreachable', 'Filtered'] as const)
      assert.equal(costsNothing(code), false);
  });
});
