/**
 * Identifies the sender of a message to an approval: proven by a row of the API, by a token, or only claimed by the
 * message.
 */
import type { SettleApprovalInput, SettleApprovalResult } from '#domain/approval/approval.ts';
import type { Decider } from '#domain/approval/approval-decider.ts';
import type { ApprovalBasis } from '#store/approvals/approval-ledger.ts';
import type { UsedToken } from './use-tokens.ts';

type Sent = NonNullable<SettleApprovalInput['decision']>;
type Problem = Pick<Extract<SettleApprovalResult, { kind: 'refused' }>, 'type' | 'message'>;

export interface ReadDecider {
  readonly who: Decider;
  readonly problem?: Problem | undefined;
}

/** `token` contains the claims of the message's token; undefined when it has none, or none that we made. */
export function readDecider(
  { tenant, approval_id: id }: Pick<SettleApprovalInput, 'tenant' | 'approval_id'>,
  sent: Sent,
  token: UsedToken | undefined,
  { status, proof, terms, digest }: Pick<ApprovalBasis, 'status' | 'proof' | 'terms' | 'digest'>,
): ReadDecider {
  if (proof) {
    const { by, user_id: user, scopes, groups } = proof;
    return { who: { by, user, scopes, groups, proof: 'key' } };
  }
  const own = token?.tenant === tenant && token.approval_id === id ? token : undefined;
  const by = (sent.by ?? own?.by ?? '').slice(0, 200) || 'unnamed';
  const who: Decider = { by, user: null, scopes: [], proof: 'claim' };
  // Messages after the end get the outcome, and no token is valid any more.
  if (status !== 'pending') return { who };
  const wrong = tokenProblem(own, sent, digest, terms.decision_token === true);
  if (wrong) return { who, problem: { ...wrong, message: `approval ${id}: ${wrong.message}` } };
  const user = own?.by ?? null;
  return { who: user === null ? who : { by, user, scopes: ['approve'], proof: 'token' } };
}

/** Undefined when the token is valid for this message, or none is required. */
function tokenProblem(
  own: UsedToken | undefined,
  { token, decision, by }: Sent,
  digest: string,
  isNeeded: boolean,
): Problem | undefined {
  const forbidden = (message: string): Problem => ({ type: 'Forbidden', message });
  if (!own) {
    if (token) return forbidden('its token was not made for this approval');
    const way = `tempoclaw approvals token ID --decision ${decision}`;
    return isNeeded
      ? forbidden(`it is decided by the HTTP API, the CLI, a link, or with a token: ${way}`)
      : undefined;
  }
  if (!own.isFirst) return forbidden('its token was used by another message; each needs one of its own');
  if (own.decision !== decision) return forbidden(`its token is for ${own.decision}, not for ${decision}`);
  if (own.by !== null && by !== undefined && own.by !== by)
    return forbidden(`its token is of ${own.by}, not of ${by}`);
  if (own.digest === digest) return undefined;
  return {
    type: 'Conflict',
    message: 'the call has been edited since its token was made; look at it again',
  };
}
