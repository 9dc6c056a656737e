/** Writes down how an approval ended, once, and with it the result of a call that will not run (AP-1 … AP-6). */
import { createHmac, timingSafeEqual, randomUUID } from 'node:crypto';
import type { DecideInput, Decision, SettleApprovalInput, SettleApprovalResult } from '#domain/approval.ts';
import { storableJson } from '#domain/storable-text.ts';
import { recordFailure } from './activity-failure.ts';
import { callDigest } from './call-digest.ts';
import type { CallRules } from './call-rules.ts';
import type { Catalog } from './catalog.ts';
import { callSummary, sealedCall } from './plan-calls.ts';
import { type ForAnyTenant, forTenant, type Scrubber } from './scrubber.ts';
import type { ApprovalBasis, ApprovalLedger } from './store/approval-ledger.ts';
import type { Sealer } from './store/seal.ts';

export interface SettleApprovalDeps {
  readonly approvals: ApprovalLedger;
  readonly catalog: Catalog;
  readonly rules: CallRules;
  readonly scrubber: Scrubber;
  readonly sealer: Sealer;
  /** Decisions must carry `decisionToken` when set: whoever reaches Temporal's port can signal (SECURITY B10). */
  readonly tokenSecret: string | undefined;
}

/** What a decision must carry when the settings ask for it: bound to the one approval. Base64url, 43 characters. */
export function decisionToken(secret: string, tenant: string, approvalId: string): string {
  return createHmac('sha256', secret).update(`${tenant}/${approvalId}`).digest('base64url');
}

export function createSettleApproval(
  parts: ForAnyTenant<SettleApprovalDeps>,
): (input: SettleApprovalInput) => Promise<SettleApprovalResult> {
  return async (input) => {
    try {
      return await settleApproval(await forTenant<SettleApprovalDeps>(parts, input.tenant), input);
    } catch (error) {
      throw recordFailure(error);
    }
  };
}

async function settleApproval(
  deps: SettleApprovalDeps,
  input: SettleApprovalInput,
): Promise<SettleApprovalResult> {
  const { tenant, approval_id: id, outcome, decision } = input;
  if (outcome !== 'decided' || !decision)
    return deps.approvals.settle({
      tenant,
      id,
      by: 'system',
      key: input.key,
      ...UNDECIDED[outcome === 'decided' ? 'expired' : outcome],
    });
  if (deps.tokenSecret !== undefined && !isToken(deps.tokenSecret, input, decision.token))
    return {
      kind: 'refused',
      type: 'Forbidden',
      message: `approval ${id} takes decisions with its token only; the HTTP API adds it`,
    };

  const by = decision.by?.slice(0, 200) || 'unnamed';
  const reason = decision.reason === undefined ? undefined : deps.scrubber.text(decision.reason);
  const settled = {
    tenant,
    id,
    by,
    key: input.key,
    decision: decision.decision,
    ...(reason === undefined ? {} : { note: reason }),
  };
  switch (decision.decision) {
    case 'reject': {
      const text = `ApprovalDenied: ${by} denied the call${reason ? `: ${reason}` : '.'} It has not run.`;
      return deps.approvals.settle({
        ...settled,
        status: 'denied',
        call: { ok: false, code: 'ApprovalDenied', text },
      });
    }
    case 'respond': {
      const text = `${by} answered instead of running the call: ${deps.scrubber.text(decision.text ?? '')}`;
      return deps.approvals.settle({ ...settled, status: 'responded', call: { ok: true, text } });
    }
    case 'approve':
      return deps.approvals.settle({ ...settled, status: 'approved' });
    default:
      return settleWithBasis(deps, settled, decision);
  }
}

/** Nobody decided: how the call ends then. */
const UNDECIDED = {
  expired: {
    status: 'expired',
    call: {
      ok: false,
      code: 'ApprovalExpired',
      text: 'ApprovalExpired: nobody decided in time. The call has not run and will not run.',
    },
  },
  withdrawn: {
    status: 'withdrawn',
    call: {
      ok: false,
      code: 'ApprovalWithdrawn',
      text: 'ApprovalWithdrawn: the turn was stopped before anybody decided. The call has not run.',
    },
  },
} as const;

interface Settling {
  readonly tenant: string;
  readonly id: string;
  readonly by: string;
  readonly key: string;
  readonly decision: Decision;
  readonly note?: string;
}

/** Decisions that change the call or the rules need to know the call. */
async function settleWithBasis(
  deps: SettleApprovalDeps,
  settled: Settling,
  decision: DecideInput,
): Promise<SettleApprovalResult> {
  const basis = await deps.approvals.basis(settled.tenant, settled.id);
  if (!basis)
    return { kind: 'refused', type: 'InvalidInput', message: `approval ${settled.id} does not exist` };
  if (decision.decision === 'approve_always') {
    const always = deps.rules.alwaysPattern(basis.tool, basis.args);
    if ('refused' in always)
      return {
        kind: 'refused',
        type: 'Unprocessable',
        message: `cannot be allowed always: ${always.refused}. Approve it once.`,
      };
    return deps.approvals.settle({
      ...settled,
      status: 'approved',
      allow: { id: randomUUID(), pattern: always.pattern },
    });
  }
  return settleEdit(deps, settled, basis, decision.args ?? {});
}

/** AP-3: what is run instead passes the schema and the rules like the call itself. */
async function settleEdit(
  deps: SettleApprovalDeps,
  settled: Settling,
  basis: ApprovalBasis,
  edited: Readonly<Record<string, unknown>>,
): Promise<SettleApprovalResult> {
  const read = deps.catalog.parse(basis.tool, edited);
  if (!read.ok)
    return {
      kind: 'refused',
      type: 'Unprocessable',
      message: `the edited arguments are refused: ${read.message}`,
    };
  const { agent, tenant_policy, context, allowlist } = basis;
  const verdict = deps.rules.judge({
    agent,
    tenant_policy,
    context,
    allowlist,
    user: context.user ?? null,
    tool: read.tool,
    args: read.args,
  });
  if (verdict.verdict === 'deny')
    return {
      kind: 'refused',
      type: 'Unprocessable',
      message: `the edited call is denied: ${verdict.reason}`,
    };
  const shown = storableJson(deps.scrubber.args(read.args));
  const digest = callDigest(basis.tool, read.args);
  return deps.approvals.settle({
    ...settled,
    status: 'approved',
    edit: {
      args: shown,
      digest,
      summary: callSummary(deps, read.tool, read.input),
      sealed:
        callDigest(basis.tool, shown) === digest
          ? null
          : deps.sealer.seal(JSON.stringify(read.args), sealedCall(settled.tenant, basis.call_id)),
    },
  });
}

function isToken(secret: string, input: SettleApprovalInput, given: string | undefined): boolean {
  const expected = Buffer.from(decisionToken(secret, input.tenant, input.approval_id));
  const actual = Buffer.from(given ?? '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}
