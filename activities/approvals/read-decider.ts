/** Who sends a message to an approval: proven by a row of the API, by a token, or only what the message says. */
import type { SettleApprovalInput, SettleApprovalResult } from '#domain/approval.ts';
import type { Decider } from '#domain/approval-decider.ts';
import { readDecisionToken, type TokenClaims } from '#policy/decision-token.ts';
import type { ApprovalBasis, ApprovalLedger } from '#store/approval-ledger.ts';

export interface ReadDeciderDeps {
  readonly approvals: Pick<ApprovalLedger, 'useToken'>;
  /** A token under one of these proves that whoever sent it does more than reach Temporal's port (SECURITY B10). */
  readonly tokenSecrets: readonly string[];
}

type Sent = NonNullable<SettleApprovalInput['decision']>;
type Problem = Pick<Extract<SettleApprovalResult, { kind: 'refused' }>, 'type' | 'message'>;

export interface ReadDecider {
  readonly who: Decider;
  readonly problem?: Problem | undefined;
}

/** A token that a message brings is used up, whatever becomes of the message: everybody can read it in the history from then on. */
export async function readDecider(
  deps: ReadDeciderDeps,
  input: SettleApprovalInput,
  sent: Sent,
  { status, proof, terms, digest }: Pick<ApprovalBasis, 'status' | 'proof' | 'terms' | 'digest'>,
): Promise<ReadDecider> {
  if (proof) return { who: { by: proof.by, user: proof.user_id, scopes: proof.scopes, proof: 'key' } };
  const { tenant, approval_id: id, key, problem } = input;
  const claims = sent.token ? readDecisionToken(deps.tokenSecrets, tenant, id, sent.token) : undefined;
  const by = (sent.by ?? claims?.by ?? '').slice(0, 200) || 'unnamed';
  const who: Decider = { by, user: null, scopes: [], proof: 'claim' };
  // Whoever comes after the end gets the outcome, and no token is worth anything any more.
  if (status !== 'pending') return { who };
  const isFirst = claims !== undefined && (await deps.approvals.useToken(tenant, id, claims.nonce, key));
  const wrong: Problem | undefined =
    problem === undefined
      ? tokenProblem(claims, sent, { isFirst, digest, isNeeded: terms.decision_token === true })
      : { type: 'InvalidInput', message: problem };
  if (wrong) return { who, problem: { ...wrong, message: `approval ${id}: ${wrong.message}` } };
  const user = claims?.by ?? null;
  return { who: user === null ? who : { by, user, scopes: ['approve'], proof: 'token' } };
}

/** Undefined when the token is for this message, or none is needed. */
function tokenProblem(
  claims: TokenClaims | undefined,
  { token, decision, by }: Sent,
  { isFirst, digest, isNeeded }: { isFirst: boolean; digest: string; isNeeded: boolean },
): Problem | undefined {
  const forbidden = (message: string): Problem => ({ type: 'Forbidden', message });
  if (!claims) {
    if (token) return forbidden('its token was not made for this approval');
    const way = `tempoclaw approvals token ID --decision ${decision}`;
    return isNeeded
      ? forbidden(`it is decided by the HTTP API, the CLI, a link, or with a token: ${way}`)
      : undefined;
  }
  if (!isFirst) return forbidden('its token was used by another message; each needs one of its own');
  if (claims.decision !== decision)
    return forbidden(`its token is for ${claims.decision}, not for ${decision}`);
  if (claims.by !== null && by !== undefined && claims.by !== by)
    return forbidden(`its token is of ${claims.by}, not of ${by}`);
  if (claims.digest === digest) return undefined;
  return {
    type: 'Conflict',
    message: 'the call has been edited since its token was made; look at it again',
  };
}
