/** The activities of approvals: they record ends, and notes on waiting approvals. */
import type { ApprovalActivities } from '#domain/approval/approval.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { createApprovalLedger } from '#store/approvals/approval-ledger.ts';
import type { ForAnyTenant } from '#store/secrets/scrubber.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import type { ActivityDeps } from '../activity-deps.ts';
import { useTokens } from './use-tokens.ts';
import { createSettleApproval, type SettleApprovalDeps } from './settle-approval.ts';

type Settling = Omit<ForAnyTenant<SettleApprovalDeps>, 'approvals' | 'tokenSecrets'>;

export function createApprovalActivities(
  parts: ActivityDeps &
    Settling & {
      /** Secret of the decision tokens; without it, secrets are derived from the master keys. */
      readonly tokenSecret: string | undefined;
      readonly masterKeys: readonly Buffer[];
    },
): ApprovalActivities {
  const approvals = createApprovalLedger(parts.pool, parts.onWrite);
  const secrets = tokenSecrets(parts.tokenSecret, parts.masterKeys);
  return {
    settle_approval: createSettleApproval({ ...parts, approvals, tokenSecrets: secrets }),
    use_up_tokens: failingAs(recordFailure, async ({ tokens, message }) => {
      await useTokens({ approvals, tokenSecrets: secrets }, tokens, message);
    }),
    keep_update: async () => undefined,
    // Escalates or reminds (AP-4). Safe to repeat.
    note_approval: failingAs(recordFailure, (input) => approvals.note(input)),
  };
}
