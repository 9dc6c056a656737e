/** How an approval ends, without a server: what is written down is looked at, and nothing is written where a decision is refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DecideInput, SettleApprovalInput, SettleApprovalResult } from '#domain/approval.ts';
import { BUDGET_ASK } from '#domain/budget.ts';
import { createSettleApproval } from '#activities/approvals/settle-approval.ts';
import { decisionToken } from '#policy/decision-token.ts';
import type { ApprovalBasis, DecisionProof, SettleRecord } from '#store/approval-ledger.ts';
import { decisionPlace } from '#store/approval-store.ts';
import { agent, placeOf, rulesOf, scrubber, sealer, SECRET, someTools, TENANT } from '../tool-call/fakes.ts';

const ID = 'apr_acme.m-1.1.0';
const TOKENS = 'the secret of tokens';
const catalog = someTools();

const PROOF: DecisionProof = {
  by: 'ada',
  user_id: 'ada',
  scopes: ['approve'],
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

interface Settled {
  readonly result: SettleApprovalResult;
  /** What was written; undefined when nothing was. */
  readonly record: SettleRecord | undefined;
}

async function settle(
  input: Partial<SettleApprovalInput>,
  basis: Partial<ApprovalBasis> | null = {},
): Promise<Settled> {
  let record: SettleRecord | undefined;
  const run = createSettleApproval({
    approvals: {
      settle: (given) => {
        record = given;
        const { status, by, key } = given;
        return Promise.resolve({ kind: 'settled', status, decision: null, by, at: '', won: true, key });
      },
      basis: () => Promise.resolve(basis === null ? undefined : { ...BASIS, ...basis }),
      note: () => Promise.reject(new Error('nothing is noted')),
    },
    catalogs: { of: () => Promise.resolve(catalog) },
    rules: rulesOf(catalog),
    hooks: { ofCall: () => Promise.resolve(undefined) },
    scrubberOf: () => Promise.resolve(scrubber),
    sealer,
    placeOf,
    boundFiles: () => Promise.resolve([]),
    knownAddresses: async () => ({}),
    tokenSecrets: [TOKENS],
  });
  const result = await run({ tenant: TENANT, approval_id: ID, outcome: 'decided', key: 'try-1', ...input });
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
    assert.deepEqual(record?.vote, { via: 'api', person: 'ada', api_key_id: 'key-1' });
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
    const token = decisionToken(TOKENS, TENANT, ID, 'bo');
    const { record } = await decide({ ...decision, token }, claim);
    assert.deepEqual(
      [record?.by, record?.vote],
      ['bo', { via: 'temporal', person: 'bo', api_key_id: undefined }],
    );
    assertRefused(
      await decide({ decision: 'approve', by: 'cy', token }, claim),
      'Forbidden',
      /certain people/,
    );
  });

  test('without the API carries a token of the approval, where its terms say so', async () => {
    const basis = { proof: null, terms: { decision_token: true } } as const;
    assertRefused(await decide({ decision: 'approve' }, basis), 'Forbidden', /with a token/);
    const other = decisionToken(TOKENS, TENANT, 'another');
    assertRefused(await decide({ decision: 'approve', token: other }, basis), 'Forbidden', /with a token/);
    const token = decisionToken(TOKENS, TENANT, ID);
    assert.equal((await decide({ decision: 'approve', token }, basis)).record?.by, 'unnamed');
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
