/**
 * How an approval ends, without a server: the tests read what was recorded, and check that a refused decision records
 * nothing.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { DecideInput, SettleApprovalInput, SettleApprovalResult } from '#domain/approval/approval.ts';
import { BUDGET_ASK } from '#domain/budget/budget.ts';
import { tokensIn } from '#domain/approval/decision-token.ts';
import { createSettleApproval } from '#activities/approvals/settle-approval.ts';
import { decisionToken, type TokenClaims } from '#policy/decision-token.ts';
import type { ApprovalBasis, DecisionProof } from '#store/approvals/approval-ledger.ts';
import type { SettleRecord } from '#store/approvals/settle-record.ts';
import { decisionPlace } from '#store/approvals/approval-store.ts';
import { agent, placeOf, rulesOf, scrubber, sealer, SECRET, someTools, TENANT } from '../tool-call/fakes.ts';

const ID = 'apr_acme.m-1.1.0';
const TOKENS = 'the secret of tokens';
const catalog = someTools();

const PROOF: DecisionProof = {
  by: 'ada',
  user_id: 'ada',
  scopes: ['approve'],
  groups: [],
  api_key_id: 'key-1',
  via: 'api',
  sealed_args: null,
};

const BASIS: ApprovalBasis = {
  status: 'pending',
  session: 's',
  call_id: 'm-1.1.0',
  tool: 'act',
  args: { note: 'x' },
  digest: 'as it was shown',
  terms: {},
  requester: 'ada',
  escalated: false,
  proof: PROOF,
  agent,
  context: {},
  tenant_policy: null,
  custom_tool: null,
  allowlist: [],
  used: {},
  always: { pattern: '[["note","x"]]', shown: 'act with exactly these arguments' },
  sandbox: null,
  form: null,
};

/** For the running test: which try used which token, and what was recorded of refused messages. */
const used = new Map<string, string>();
const refusals: string[] = [];

const tokenFor = (claims: Partial<TokenClaims>, approval = ID): string =>
  decisionToken(TOKENS, {
    tenant: TENANT,
    approval_id: approval,
    decision: 'approve',
    digest: BASIS.digest,
    by: null,
    nonce: randomUUID(),
    ...claims,
  });

interface Settled {
  readonly result: SettleApprovalResult;
  /** What was recorded; undefined when nothing was. */
  readonly record: SettleRecord | undefined;
}

async function settle(
  input: Partial<SettleApprovalInput>,
  basis: Partial<ApprovalBasis> | null = {},
): Promise<Settled> {
  let record: SettleRecord | undefined;
  const run = createSettleApproval({
    approvals: {
      settle: (input) => {
        record = input;
        const { status, by, key } = input;
        const won = (basis?.status ?? 'pending') === 'pending';
        return Promise.resolve({ kind: 'settled', status, decision: null, by, at: '', won, key });
      },
      basis: () => Promise.resolve(basis === null ? undefined : { ...BASIS, ...basis }),
      note: () => Promise.reject(new Error('nothing is noted')),
      useToken: (_tenant, _id, nonce, message) => {
        if (!used.has(nonce)) used.set(nonce, message);
        return Promise.resolve(used.get(nonce) === message);
      },
      noteRefusal: ({ what, by, problem }) => {
        refusals.push(`${what} by ${by}: ${problem}`);
        return Promise.resolve({ what, by, problem, at: '' });
      },
    },
    catalogs: { of: () => Promise.resolve(catalog) },
    rules: rulesOf(catalog),
    guards: { ofCall: () => Promise.resolve(undefined) },
    scrubberOf: () => Promise.resolve(scrubber),
    sealer,
    placeOf,
    boundFiles: () => Promise.resolve([]),
    pathProblem: () => Promise.resolve(undefined),
    knownAddresses: async () => ({}),
    tokenSecrets: [TOKENS],
  });
  const options = { tenant: TENANT, approval_id: ID, outcome: 'decided', key: 'try-1', ...input } as const;
  const result = await run({ message: `run/${options.key}`, tokens: tokensIn(input.decision), ...options });
  return { result, record };
}

const decide = (decision: DecideInput, basis: Partial<ApprovalBasis> = {}): Promise<Settled> =>
  settle({ decision }, basis);

function assertRefused({ result, record }: Settled, type: string, words: RegExp): void {
  assert.equal(record, undefined);
  assert.ok(result.kind === 'refused');
  assert.equal(result.type, type);
  assert.match(result.message, words);
}

describe('AP-1 an approval that nobody decides', () => {
  test('ends its call with the reason, without a look at what was asked', async () => {
    for (const [outcome, code] of [
      ['expired', 'ApprovalExpired'],
      ['withdrawn', 'ApprovalWithdrawn'],
    ] as const) {
      const { record } = await settle({ outcome }, null);
      assert.deepEqual([record?.status, record?.by, record?.call?.code], [outcome, 'system', code]);
    }
  });
});

describe('AP-3 a decision', () => {
  test('to approve runs the call as it was shown, and says who decided', async () => {
    const { record } = await decide({ decision: 'approve' });
    assert.deepEqual(
      [record?.status, record?.by, record?.call, record?.edit],
      ['approved', 'ada', undefined, undefined],
    );
    assert.deepEqual(record?.vote, { groups: undefined, via: 'api', person: 'ada', api_key_id: 'key-1' });
  });

  test('to reject tells the model who said no and why, without secrets', async () => {
    const { record } = await decide({ decision: 'reject', reason: `not with ${SECRET}` });
    assert.equal(record?.status, 'denied');
    assert.match(
      record.call?.text ?? '',
      /^ApprovalDenied: ada denied the call: not with .*\. It has not run\.$/,
    );
    assert.doesNotMatch(JSON.stringify(record), new RegExp(SECRET));
  });

  test('to respond is the result of the call', async () => {
    const { record } = await decide({ decision: 'respond', text: 'use the other one' });
    assert.deepEqual(record?.call, {
      ok: true,
      text: 'ada answered instead of running the call: use the other one',
    });
  });

  test('of an approval that does not exist is refused', async () => {
    assertRefused(
      await settle({ decision: { decision: 'approve' } }, null),
      'InvalidInput',
      /does not exist/,
    );
  });

  test('of one that is settled is left to its row, whatever is decided and by whom', async () => {
    const basis = { status: 'approved', terms: { approvers: { users: ['bo'] } } } as const;
    const { record } = await decide({ decision: 'edit', args: { nonsense: 1 } }, basis);
    assert.equal(record?.edit, undefined);
  });

  test('about a call that has been edited since it was looked at is refused', async () => {
    assertRefused(
      await decide({ decision: 'approve', digest: 'of another' }),
      'Conflict',
      /edited since you saw it/,
    );
    assert.ok((await decide({ decision: 'approve', digest: BASIS.digest })).record);
  });

  test('to approve carries no other arguments than those shown, as they are or as Agent Inbox has them', async () => {
    for (const args of [{ note: 'x' }, { action: 'act', args: { note: 'x' } }])
      assert.equal((await decide({ decision: 'approve', args })).record?.status, 'approved');
    assertRefused(await decide({ decision: 'approve', args: { note: 'y' } }), 'Unprocessable', /decide edit/);
  });
});

describe('AP-4 who decides', () => {
  test('is one of its approvers, by a key or by a token of his own', async () => {
    const basis = { terms: { approvers: { users: ['bo'] } } };
    const decision = { decision: 'approve', by: 'bo' } as const;
    assertRefused(await decide(decision, basis), 'Forbidden', /not among its approvers/);
    const claim = { ...basis, proof: null };
    assertRefused(await decide(decision, claim), 'Forbidden', /bound to certain people/);
    const token = tokenFor({ by: 'bo' });
    const { record } = await decide({ ...decision, token }, claim);
    assert.deepEqual(
      [record?.by, record?.vote],
      ['bo', { groups: undefined, via: 'temporal', person: 'bo', api_key_id: undefined }],
    );
    assertRefused(
      await decide({ decision: 'approve', by: 'cy', token: tokenFor({ by: 'bo' }) }, claim),
      'Forbidden',
      /its token is of bo, not of cy/,
    );
  });

  test('without the API carries a token of the approval, where its terms say so', async () => {
    const basis = { proof: null, terms: { decision_token: true } } as const;
    assertRefused(await decide({ decision: 'approve' }, basis), 'Forbidden', /with a token/);
    const other = tokenFor({}, 'another');
    assertRefused(
      await decide({ decision: 'approve', token: other }, basis),
      'Forbidden',
      /not made for this/,
    );
    const token = tokenFor({});
    assert.equal((await decide({ decision: 'approve', token }, basis)).record?.by, 'unnamed');
  });

  test('a token is used up by the first message that brings it, whatever becomes of that one', async () => {
    const basis = { proof: null, terms: { decision_token: true } } as const;
    const first = [
      { decision: 'reject' },
      { decision: 'approve', digest: 'of another' },
      { decision: 'approve', by: 'cy' },
      { decision: 'approve', args: { note: 'y' } },
    ] as const;
    for (const message of first) {
      const token = tokenFor({ by: 'bo' });
      const sent = { ...message, token };
      assert.equal((await settle({ key: 'first', decision: sent }, basis)).result.kind, 'refused');
      assertRefused(
        await settle({ key: 'second', decision: { decision: 'approve', token } }, basis),
        'Forbidden',
        /was used by another message/,
      );
    }
    const token = tokenFor({});
    const unread = { what: 'decide', by: 'bo', problem: 'no decision' };
    assertRefused(
      await settle({ key: 'unread', unread, tokens: [token] }, basis),
      'InvalidInput',
      /no decision/,
    );
    assertRefused(
      await settle({ key: 'later', decision: { decision: 'approve', token } }, basis),
      'Forbidden',
      /was used by another message/,
    );
  });

  test('a token that is sent to another approval, too late or within other words is used up', async () => {
    const basis = { proof: null, terms: { decision_token: true } } as const;
    for (const [input, other] of [
      [{ approval_id: 'another', decision: { decision: 'approve' } }, basis],
      [{ outcome: 'expired', decision: { decision: 'approve' } }, basis],
      [{ decision: { decision: 'approve' } }, { ...basis, status: 'approved' }],
      [{ decision: { decision: 'approve' } }, null],
    ] as const) {
      const token = tokenFor({});
      const decision = { ...input.decision, reason: `by ${token}` };
      await settle({ key: 'first', ...input, decision }, other);
      assertRefused(
        await settle({ key: 'second', decision: { decision: 'approve', token } }, basis),
        'Forbidden',
        /was used by another message/,
      );
    }
  });

  test('a signal that comes too late is written down, an update only answered', async () => {
    const basis = { proof: null, status: 'withdrawn' } as const;
    const noted = async (signal: true | undefined) => {
      const { result } = await settle({ decision: { decision: 'approve' }, signal }, basis);
      assert.ok(result.kind === 'settled');
      return result.noted;
    };
    refusals.length = 0;
    assert.equal((await noted(undefined))?.what, undefined);
    assert.equal((await noted(true))?.what, 'approve');
    assert.equal(refusals.length, 1);
  });

  test('a message that is tried again after a crash keeps its token', async () => {
    const basis = { proof: null, terms: { decision_token: true } } as const;
    const decision = { decision: 'approve', token: tokenFor({}) } as const;
    for (let attempt = 1; attempt <= 2; attempt += 1)
      assert.equal((await settle({ key: 'same', decision }, basis)).record?.status, 'approved');
  });

  test('what a message of Temporal is refused for is written down, of the API it is only answered', async () => {
    refusals.length = 0;
    const terms = { approvers: { users: ['bo'] } };
    await decide({ decision: 'approve', by: 'eve' }, { terms, proof: null });
    await decide({ decision: 'approve' }, { terms });
    assert.equal(refusals.length, 1);
    assert.match(refusals[0] ?? '', /^approve by eve: approval .* is bound to certain people/);
  });

  test('where several must agree, agreement names the call that was looked at', async () => {
    const basis = { terms: { quorum: 2 } };
    assertRefused(await decide({ decision: 'approve' }, basis), 'InvalidInput', /send the digest/);
    assert.equal((await decide({ decision: 'approve', digest: BASIS.digest }, basis)).record?.by, 'ada');
    assert.equal((await decide({ decision: 'reject' }, basis)).record?.status, 'denied');
  });

  test('who takes a question back is named to the model, and must be one who may decide it', async () => {
    const withdraw = { decision: 'withdraw', by: 'bo', reason: 'not needed' } as const;
    const { record } = await settle({ decision: withdraw }, { proof: null });
    assert.deepEqual([record?.status, record?.vote], ['withdrawn', undefined]);
    assert.match(record?.call?.text ?? '', /bo took the question back before anybody decided: not needed\./);
    const basis = { proof: null, terms: { decision_token: true } } as const;
    assertRefused(await settle({ decision: withdraw }, basis), 'Forbidden', /--decision withdraw/);
    const token = tokenFor({ decision: 'withdraw' });
    assert.equal((await settle({ decision: { ...withdraw, token } }, basis)).record?.status, 'withdrawn');
  });
});

describe('AP-3 an edit', () => {
  test('runs other arguments, which are judged and bound like those of the call', async () => {
    const { record } = await decide({ decision: 'edit', args: { note: 'y' } });
    assert.equal(record?.status, 'approved');
    assert.deepEqual(
      [record.edit?.args, record.edit?.summary, record.edit?.sealed],
      [{ note: 'y' }, 'act: y', null],
    );
    assert.notEqual(record.edit?.digest, BASIS.digest);
  });

  test('comes sealed from the API, and what is secret in it is shown to nobody', async () => {
    const sealed_args = sealer.seal(JSON.stringify({ note: SECRET }), decisionPlace(TENANT, ID));
    const { record } = await decide({ decision: 'edit' }, { proof: { ...PROOF, sealed_args } });
    assert.ok(record?.edit?.sealed);
    assert.doesNotMatch(JSON.stringify({ ...record.edit, sealed: '' }), new RegExp(SECRET));
  });

  test('with arguments that are not the tool’s, or are guessed, is refused', async () => {
    const edit = (args: Record<string, unknown>): Promise<Settled> => decide({ decision: 'edit', args });
    assertRefused(await edit({}), 'Unprocessable', /the edited arguments are refused/);
    assertRefused(await edit({ note: 5 }), 'Unprocessable', /note/);
  });

  test('that the rules deny, or that others would have to approve, is refused', async () => {
    const edit = { decision: 'edit', args: { note: 'y' } } as const;
    const denied = { agent: { ...agent, tools: { deny: ['act'] } } };
    assertRefused(await decide(edit, denied), 'Unprocessable', /the edited call is denied/);
    const strict = { agent: { ...agent, tools: { ask: [{ tool: 'act', quorum: 2 }] } } };
    assertRefused(await decide(edit, strict), 'Unprocessable', /a rule with other approvers/);
  });

  test('of a tool that has changed since it was asked is refused', async () => {
    const custom_tool = { id: 'tool-1', revision: 1 };
    const edit = { decision: 'edit', args: { note: 'y' } } as const;
    assertRefused(await decide(edit, { custom_tool }), 'Unprocessable', /was changed after this was asked/);
  });
});

describe('AP-5 always', () => {
  test('allows exactly what was shown', async () => {
    const { record } = await decide({ decision: 'approve_always' });
    assert.deepEqual([record?.status, record?.allow?.pattern], ['approved', '[["note","x"]]']);
  });

  test('is refused where it was not offered, or would allow something else by now', async () => {
    const always = { decision: 'approve_always' } as const;
    assertRefused(
      await decide(always, { always: { refused: 'it holds a secret' } }),
      'Unprocessable',
      /Approve it once/,
    );
    assertRefused(
      await decide(always, { args: { note: 'other' } }),
      'Unprocessable',
      /not allow any more what was shown/,
    );
  });
});

describe('DU-7 a question for more of a budget', () => {
  const ask = { budget: 'session', measure: 'calls', more: 5 };
  const basis = { tool: BUDGET_ASK, args: ask };

  test('is approved or denied without a call, and answered in no other way', async () => {
    assert.equal((await decide({ decision: 'approve' }, basis)).record?.status, 'approved');
    const { record } = await decide({ decision: 'reject' }, basis);
    assert.deepEqual([record?.status, record?.call], ['denied', undefined]);
    for (const decision of ['approve_always', 'respond'] as const)
      assertRefused(await decide({ decision }, basis), 'Unprocessable', /cannot be decided by/);
  });

  test('is edited only in how much more', async () => {
    assertRefused(
      await decide({ decision: 'edit', args: { more: 0 } }, basis),
      'Unprocessable',
      /only `more`/,
    );
  });
});
