/** AP-4: terms of approvals, and which of them can never be met. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApprovalTerms, termsOf, termsProblem } from '#domain/approval/approval-terms.ts';
import { askRuleSchema } from '#domain/schema/agent.ts';

describe('AP-4 the terms of a rule', () => {
  test('are its fields that say who, how many and how long; a rule without them has none', () => {
    const rule = { tool: 'exec', reason: 'r', quorum: 2, approvers: { users: ['ann', 'bea'] } };
    assert.deepEqual(termsOf(rule), { quorum: 2, approvers: { users: ['ann', 'bea'] } });
    assert.equal(termsOf({ expires_seconds: undefined }), undefined);
  });

  const fine: ApprovalTerms[] = [
    {},
    { quorum: 3 },
    { quorum: 2, approvers: { users: ['ann', 'bea'] } },
    { quorum: 2, approvers: { users: ['ann'], scopes: ['admin'] } },
    { quorum: 2, approvers: { users: ['ann'] }, escalate: { after_seconds: 5, to: { users: ['bea'] } } },
    { expires_seconds: 60, escalate: { after_seconds: 59, to: { scopes: ['admin'] } } },
  ];
  for (const terms of fine)
    test(`${JSON.stringify(terms)} can be met`, () => {
      assert.equal(termsProblem(terms), undefined);
      assert.ok(askRuleSchema.safeParse({ tool: 'exec', ...terms }).success);
    });

  const hopeless: ApprovalTerms[] = [
    { quorum: 2, approvers: { users: ['ann'] } },
    { quorum: 2, approvers: { users: ['ann', 'ann'] } },
    { quorum: 2, approvers: { users: ['ann', ' ANN'] } },
    { expires_seconds: 60, escalate: { after_seconds: 60, to: { users: ['bea'] } } },
  ];
  for (const terms of hopeless)
    test(`${JSON.stringify(terms)} is refused where it is written`, () => {
      assert.ok(termsProblem(terms));
      assert.equal(askRuleSchema.safeParse({ tool: 'exec', ...terms }).success, false);
    });

  for (const terms of [
    { quorum: 0 },
    { quorum: 2.5 },
    { quorum: 1000 },
    { approvers: {} },
    { approvers: { users: [] } },
    { approvers: { scopes: ['root'] } },
    { on_expiry: 'allow' },
    { remind_seconds: 1 },
    { escalate: { after_seconds: 5 } },
    { approver: { users: ['ann'] } },
  ])
    test(`${JSON.stringify(terms)} is no rule`, () =>
      assert.equal(askRuleSchema.safeParse({ tool: 'exec', ...terms }).success, false));
});
