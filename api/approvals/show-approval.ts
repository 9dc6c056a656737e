/** Shows an approval's row as the API answers it. */
import { parseEntry } from '@tempoclaw/shell-judge';
import type { z } from 'zod';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';
import type { AlwaysOffer } from '#domain/approval/approval.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { approvalSchema } from '#domain/schema/approval.ts';
import type { TemporalLink } from '../temporal-links.ts';

export function showApproval(row: ApprovalRow, link: TemporalLink): z.infer<typeof approvalSchema> {
  const workflowId = approvalWorkflowId(row.id);
  const { runs = null, ...terms } = row.terms;
  return {
    id: row.id,
    workflow_id: workflowId,
    status: row.status,
    tool: row.tool,
    args: row.args,
    summary: row.summary,
    reason: row.reason,
    risk: row.risk,
    call_id: row.call_id,
    turn_id: row.turn_id,
    session_key: row.session_key,
    subagent: row.subagent,
    delegation: row.delegation,
    agent: row.agent_key,
    user: row.user_id,
    digest: row.digest,
    decision: row.decision,
    decided_by: row.decided_by,
    decided_at: row.decided_at?.toISOString() ?? null,
    note: row.note,
    terms,
    always: showAlways(row.always),
    sandbox: row.sandbox === null ? null : { ...row.sandbox },
    files: row.files.map((file) => ({ ...NO_FILE, ...file })),
    form: row.form,
    runs,
    ...tallyOf(row),
    escalated_at: row.escalated_at?.toISOString() ?? null,
    refused: row.refused,
    last_refused: row.last_refused as z.infer<typeof approvalSchema>['last_refused'],
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
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
