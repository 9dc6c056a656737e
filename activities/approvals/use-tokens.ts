/**
 * Uses up the decision tokens in a message to any workflow, because everybody can read them in its history from then
 * on.
 */
import { readDecisionToken, type TokenClaims } from '#policy/decision-token.ts';
import type { ApprovalLedger } from '#store/approvals/approval-ledger.ts';

export interface UseTokensDeps {
  readonly approvals: Pick<ApprovalLedger, 'useToken'>;
  /** A token made with one of these proves that its sender does more than reach Temporal's port. */
  readonly tokenSecrets: readonly string[];
}

export interface UsedToken extends TokenClaims {
  /** No other message has contained it. */
  readonly isFirst: boolean;
}

/** Uses up all tokens in the message, each for its own approval. Safe to repeat. */
export async function useTokens(
  { approvals, tokenSecrets }: UseTokensDeps,
  tokens: readonly string[],
  message: string,
): Promise<ReadonlyMap<string, UsedToken>> {
  const used = new Map<string, UsedToken>();
  for (const token of tokens) {
    const claims = readDecisionToken(tokenSecrets, token);
    if (!claims) continue;
    const { tenant, approval_id, nonce } = claims;
    used.set(token, { ...claims, isFirst: await approvals.useToken(tenant, approval_id, nonce, message) });
  }
  return used;
}
