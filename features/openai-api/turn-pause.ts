/** Why an answer is over for its client: the turn ended, or somebody must act first. */
import type { TurnNews } from '#api/turn-follower.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
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

/** For protocols in which nothing else says it. */
export function approvalText(approvals: readonly ApprovalRow[]): string {
  const lines = approvals.map(
    ({ id, summary }) =>
      `Waits for an approval of: ${showHidden(summary)}\nA person decides it in the web console, or with \`npx tempoclaw approvals approve ${id}\`. Then ask again.`,
  );
  return lines.join('\n\n');
}
