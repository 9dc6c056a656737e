/** Why a run is over for its client. */
import type { TurnPause } from '#api/turn-pause.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';

/** The oldest first, as the decisions of a client that names no ids follow each other. */
export function waitsIn(pause: TurnPause | undefined): {
  readonly waits: readonly ApprovalRow[];
  readonly error?: TurnRow['error'];
} {
  switch (pause?.kind) {
    case 'calls':
      return { waits: pause.calls.toReversed() };
    case 'approvals':
      return { waits: pause.approvals.toReversed() };
    case 'ended':
      return { waits: [], error: pause.turn.error };
    default:
      return { waits: [] };
  }
}
