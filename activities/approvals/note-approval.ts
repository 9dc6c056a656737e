/** Says that an approval still waits: lets others decide, or reminds (AP-4). Runs again safely. */
import type { NoteApprovalInput } from '#domain/approval.ts';
import { recordFailure } from '../activity-failure.ts';
import type { ApprovalLedger } from '#store/approval-ledger.ts';

export function createNoteApproval(
  approvals: Pick<ApprovalLedger, 'note'>,
): (input: NoteApprovalInput) => Promise<boolean> {
  return async (input) => {
    try {
      return await approvals.note(input);
    } catch (error) {
      throw recordFailure(error);
    }
  };
}
