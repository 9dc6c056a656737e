/** Why an answer is over for its client: the turn ended, or somebody must act first. */
import type { TurnNews } from './turn-follower.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { TurnRow } from '#store/turns/turn-store.ts';

export type TurnPause =
  | { readonly kind: 'ended'; readonly turn: TurnRow }
  /** The client runs these and sends the results. */
  | { readonly kind: 'calls'; readonly calls: readonly ApprovalRow[] }
  /** People decide about these. */
  | { readonly kind: 'approvals'; readonly approvals: readonly ApprovalRow[] };

export function pauseOf({ ended, waits }: TurnNews): TurnPause | undefined {
  if (ended) return { kind: 'ended', turn: ended };
  const calls = waits.filter(({ terms }) => terms.client_tool);
  if (calls.length > 0) return { kind: 'calls', calls };
  return waits.length > 0 ? { kind: 'approvals', approvals: waits } : undefined;
}
