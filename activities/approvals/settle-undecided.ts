/** Records that nobody decided, and how the call then ends. */
import type { SettleApprovalInput, SettleApprovalResult } from '#domain/approval/approval.ts';
import type { ApprovalLedger } from '#store/approvals/approval-ledger.ts';
import type { SettleRecord } from '#store/approvals/settle-record.ts';
import type { Settling } from './settle-form.ts';

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
      text: 'ApprovalWithdrawn: the question was taken back before anybody decided: its turn was stopped, or its workflow cancelled. The call has not run.',
    },
  },
} as const;

export function withdrawnBy({
  by,
  note,
}: Pick<Settling, 'by' | 'note'>): Pick<SettleRecord, 'status' | 'call'> {
  const text = `ApprovalWithdrawn: ${by} took the question back before anybody decided${whyWords(note)} The call has not run. The turn goes on.`;
  return { status: 'withdrawn', call: { ok: false, code: 'ApprovalWithdrawn', text } };
}

/** The end of a sentence with the reason. */
export function whyWords(note: string | undefined): string {
  return note ? `: ${note}${/[.!?…]$/u.test(note) ? '' : '.'}` : '.';
}

export function settleUndecided(
  { approvals }: { readonly approvals: Pick<ApprovalLedger, 'settle'> },
  { tenant, approval_id: id, key, outcome }: SettleApprovalInput,
): Promise<SettleApprovalResult> {
  const how = UNDECIDED[outcome === 'decided' ? 'expired' : outcome];
  return approvals.settle({ tenant, id, by: 'system', key, ...how });
}
