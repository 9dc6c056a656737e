/** Shows an approval's row as the API answers it. */
import { parseEntry } from '@tempoclaw/shell-judge';
import type { z } from 'zod';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { AlwaysOffer } from '#domain/approval/approval.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { approvalSchema } from '#domain/schema/approval.ts';
import type { TemporalLink } from '../temporal-links.ts';

export function showApproval(row: ApprovalRow, link: TemporalLink) {
  const workflowId = approvalWorkflowId(row.id);
  const { runs = null, ...terms } = row.terms;
  return {
    ...row,
    workflow_id: workflowId,
    agent: row.agent_key,
    user: row.user_id,
    terms,
    always: showAlways(row.always),
    files: row.files.map((file) => ({ ...NO_FILE, ...file })),
    runs,
    ...tallyOf(row),
    last_refused: row.last_refused as z.infer<typeof approvalSchema>['last_refused'],
    links: { temporal: link(workflowId) },
  };
}

const NO_FILE = { sha256: null, bytes: null, missing: false, unbound: null };

function showAlways(offer: AlwaysOffer): z.infer<typeof approvalSchema>['always'] {
  const nothing = { allows: null, program: null, file: null, args: null };
  if ('refused' in offer) return { ...nothing, refused: offer.refused };
  const entry = parseEntry(offer.pattern);
  const command = entry && { program: entry.path, file: entry.file ?? null, args: [...entry.args] };
  return { ...nothing, allows: offer.shown, ...command, refused: null };
}

function tallyOf({ terms: { quorum = 1 }, agreed, status }: ApprovalRow): {
  approved_by: string[];
  tally: string | null;
} {
  if (quorum < 2) return { approved_by: [], tally: null };
  const count = status === 'approved' ? quorum : agreed.length;
  return { approved_by: [...agreed], tally: `${count} of ${quorum}` };
}
