/** AP-4, R3: who may decide. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  coversTerms,
  type Decider,
  deciderProblem,
  type Question,
} from '#domain/approval/approval-decider.ts';
import { personOf } from '#domain/person.ts';
import type { ApprovalTerms } from '#domain/approval/approval-terms.ts';

const user = (name: string, ...scopes: Decider['scopes']): Decider => ({
  by: name,
  user: name,
  scopes: scopes.length === 0 ? ['approve'] : scopes,
  proof: 'key',
});
const service: Decider = { by: 'key:ci', user: null, scopes: ['approve'], proof: 'key' };
const claim: Decider = { by: 'ann', user: null, scopes: [], proof: 'claim' };
const byToken = (name: string): Decider => ({ ...user(name), proof: 'token' });
const onRequest = (terms: ApprovalTerms, more: Partial<Question> = {}): Question => ({
  terms,
  requester: 'req',
  escalated: false,
  ...more,
});

describe('AP-4 who may decide', () => {
  const escalate = { after_seconds: 1, to: { users: ['cyd'], scopes: ['admin' as const] } };
  const cases: [string, Question, Decider, boolean][] = [
    ['without terms, whose turn it is', onRequest({}), user('req'), true],
    ['without terms, another user', onRequest({}), user('ann'), false],
    ['without terms, an admin', onRequest({}), user('ann', 'approve', 'admin'), true],
    ['without terms, a service', onRequest({}), service, true],
    [
      "without terms, anybody when the turn is nobody's",
      onRequest({}, { requester: null }),
      user('ann'),
      true,
    ],
    ['without terms, a claim', onRequest({}), claim, true],
    ['without terms, anybody with his token', onRequest({}), byToken('ann'), true],
    ['with approvers, the token of one', onRequest({ approvers: { users: ['ann'] } }), byToken('ann'), true],
    [
      'with approvers, the token of another',
      onRequest({ approvers: { users: ['ann'] } }),
      byToken('bea'),
      false,
    ],
    ['with approvers, who is named', onRequest({ approvers: { users: ['ann'] } }), user('ann'), true],
    [
      'with approvers, a look-alike of a name',
      onRequest({ approvers: { users: ['ann'] } }),
      user('Ann'),
      false,
    ],
    ['with approvers, whose turn it is', onRequest({ approvers: { users: ['ann'] } }), user('req'), false],
    ['with approvers, an admin', onRequest({ approvers: { users: ['ann'] } }), user('x', 'admin'), false],
    ['with approvers, a claim to be one', onRequest({ approvers: { users: ['ann'] } }), claim, false],
    ['with a scope, a service that has it', onRequest({ approvers: { scopes: ['approve'] } }), service, true],
    ['with a scope, who has it not', onRequest({ approvers: { scopes: ['admin'] } }), user('ann'), false],
    ['with a quorum, any user who may approve', onRequest({ quorum: 2 }), user('ann'), true],
    ['with a quorum, a user who may not', onRequest({ quorum: 2 }), user('ann', 'read'), false],
    ['with a quorum, a service', onRequest({ quorum: 2 }), service, false],
    ['with a quorum, a claim', onRequest({ quorum: 2 }), claim, false],
    ['the requester, when he is excluded', onRequest({ exclude_requester: true }), user('req'), false],
    [
      'the requester named as an approver, when he is excluded',
      onRequest({ exclude_requester: true, approvers: { users: ['req'] } }),
      user('req'),
      false,
    ],
    ['the requester spelt otherwise', onRequest({ exclude_requester: true }), user('Ｒｅｑ '), false],
    ['another, when the requester is excluded', onRequest({ exclude_requester: true }), user('ann'), true],
    ['before the escalation, to whom it goes', onRequest({ escalate }), user('cyd'), false],
    [
      'after the escalation, to whom it goes',
      onRequest({ escalate }, { escalated: true }),
      user('cyd'),
      true,
    ],
    [
      'after the escalation, still the approvers',
      onRequest({ approvers: { users: ['ann'] }, escalate }, { escalated: true }),
      user('ann'),
      true,
    ],
  ];
  for (const [name, question, who, may] of cases)
    test(`${name}: ${may ? 'may' : 'may not'}`, () =>
      assert.equal(deciderProblem(question, who) === undefined, may));

  for (const name of ['Ann', ' ann ', 'a\u200bnn', 'ＡＮＮ', 'ann\t'])
    test(`${JSON.stringify(name)} and "ann" are one person`, () => assert.equal(personOf(name), 'ann'));

  test('other names are other people', () => assert.notEqual(personOf('ann lee'), personOf('annlee')));
});

describe('AP-4 an edited call falls under another rule', () => {
  for (const [terms, other, covered] of [
    [{}, {}, true],
    [{}, { expires_seconds: 5, remind_seconds: 60 }, true],
    [{ quorum: 2 }, {}, true],
    [{ quorum: 2 }, { quorum: 2, expires_seconds: 9 }, true],
    [{ approvers: { users: ['a', 'b'] } }, { approvers: { users: ['b', 'a'] } }, true],
    [{}, { quorum: 2 }, false],
    [{ quorum: 2 }, { quorum: 3 }, false],
    [{}, { exclude_requester: true }, false],
    [{ approvers: { users: ['a'] } }, { approvers: { users: ['b'] } }, false],
  ] as const)
    test(`${JSON.stringify(terms)} ${covered ? 'covers' : 'does not cover'} ${JSON.stringify(other)}`, () =>
      assert.equal(coversTerms(terms, other), covered));
});
