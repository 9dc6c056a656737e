/** Ends the approval of a call that the sender of a message runs, and of any call that is rejected. */
import { randomUUID } from 'node:crypto';
import type { DecideInput, SettleApprovalResult } from '#domain/approval/approval.ts';
import { markOutside } from '#domain/text/outside-text.ts';
import type { ApprovalBasis, ApprovalLedger } from '#store/approvals/approval-ledger.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { refused, type Settling } from './settle-form.ts';
import { whyWords } from './settle-undecided.ts';

interface SettleDeps {
  readonly approvals: Pick<ApprovalLedger, 'settle'>;
  readonly scrubber: Scrubber;
}

export function settleRejected(deps: SettleDeps, settled: Settling): Promise<SettleApprovalResult> {
  const text = `ApprovalDenied: ${settled.by} denied the call${whyWords(settled.note)} It has not run.`;
  const call = { ok: false, code: 'ApprovalDenied', text } as const;
  return deps.approvals.settle({ ...settled, status: 'denied', call });
}

/** Only the sender of the message can run it, so that an approval would run nothing. */
export async function settleClientCall(
  deps: SettleDeps,
  settled: Settling,
  { tool }: Pick<ApprovalBasis, 'tool'>,
  { decision, text: result = '' }: DecideInput,
): Promise<SettleApprovalResult> {
  switch (decision) {
    case 'reject':
      return settleRejected(deps, settled);
    case 'respond': {
      const shown = { id: randomUUID(), source: tool, text: deps.scrubber.text(result) };
      const call = { ok: true, text: markOutside(shown) } as const;
      return deps.approvals.settle({ ...settled, status: 'responded', call });
    }
    default:
      return refused(
        'Unprocessable',
        `${tool} runs where the message came from: send its result as the decision respond, or reject it`,
      );
  }
}
