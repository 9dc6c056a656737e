/** The room of approvals: how they end, what is noted of those that wait, and whether what is asked needs a token. */
import type { ApprovalActivities } from '#domain/approval.ts';
import { tokenSecrets } from '#policy/decision-token.ts';
import { agentSandboxes } from '#store/agent-store.ts';
import { createApprovalLedger } from '#store/approval-ledger.ts';
import { hasQueueNodes } from '#features/nodes/store/node-store.ts';
import type { ForAnyTenant } from '#store/secrets/scrubber.ts';
import { failingAs, recordFailure } from '../activity-failure.ts';
import type { RoomDeps } from '../room-deps.ts';
import { useTokens } from './use-tokens.ts';
import { createNeedsToken, type NeedsToken, type NeedsTokenParts } from './needs-token.ts';
import { createSettleApproval, type SettleApprovalDeps } from './settle-approval.ts';

type Settling = Omit<ForAnyTenant<SettleApprovalDeps>, 'approvals' | 'tokenSecrets'>;

export interface ApprovalParts extends RoomDeps, Settling, Pick<NeedsTokenParts, 'sandbox'> {
  readonly decisionToken: { readonly required: boolean | 'auto'; readonly secret?: string };
  /** Tokens without a secret of their own follow from these. */
  readonly masterKeys: readonly Buffer[];
}

export function createApprovalRoom(parts: ApprovalParts): {
  readonly activities: ApprovalActivities;
  readonly needsToken: NeedsToken;
} {
  const { pool, decisionToken } = parts;
  const approvals = createApprovalLedger(pool, parts.onWrite);
  const secrets = tokenSecrets(decisionToken.secret, parts.masterKeys);
  return {
    activities: {
      settle_approval: createSettleApproval({ ...parts, approvals, tokenSecrets: secrets }),
      use_up_tokens: failingAs(recordFailure, async ({ tokens, message }) => {
        await useTokens({ approvals, tokenSecrets: secrets }, tokens, message);
      }),
      // Lets others decide, or reminds (AP-4). Runs again safely.
      note_approval: failingAs(recordFailure, (input) => approvals.note(input)),
    },
    needsToken: createNeedsToken({
      ...parts,
      required: decisionToken.required,
      hasQueueNodes: () => hasQueueNodes(pool),
      sandboxesOf: (tenant) => agentSandboxes(pool, tenant),
    }),
  };
}
