/** DU-7: work within a budget whose cost Postgres does not take at once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bookModel } from '#activities/budgets/book-model.ts';
import { createBudgetGuard } from '#activities/budgets/budget-guard.ts';

it('DU-7 what was done and paid for is not thrown away because Postgres does not take its cost at once', async () => {
  const tries = { settle: 0, noteUses: 0 };
  const noted: unknown[] = [];
  const failTwice = (what: keyof typeof tries): void => {
    tries[what] += 1;
    if (tries[what] <= 2) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
  };
  const budgets = createBudgetGuard({
    ledger: {
      reserve: async () => ({ held: true }),
      settle: async () => failTwice('settle'),
      noteUses: async (_place: object, uses: readonly { readonly once?: string }[]) => {
        noted.push(uses.map(({ once }) => once));
        failTwice('noteUses');
      },
    },
    settings: [],
    approvalSeconds: 60,
    needsToken: async () => false,
  } as never);
  const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
  let paid = 0;
  const work = { tenant: 't', session: 's', turn: 'turn_1', holder: 'h', ref: 'm/x', usage };
  const done = await bookModel({ models: { cost: () => undefined }, budgets }, work, async (note) => {
    paid += 1;
    note({ kind: 'reading', model: 'm/x', usage });
    return 'read';
  });
  assert.deepEqual([done, paid], [{ result: 'read' }, 1]);
  assert.deepEqual(tries, { settle: 3, noteUses: 3 });
  assert.match(String(noted[0]), /^[0-9a-f-]{36}$/);
  assert.deepEqual(noted, [noted[0], noted[0], noted[0]], 'a repeat counts nothing twice');
});
