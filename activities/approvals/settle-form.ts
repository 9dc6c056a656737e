/** Records what a person answered to the question of an MCP server. */
import type { DecideInput, RefusedRequest, SettleApprovalResult } from '#domain/approval/approval.ts';
import { answerProblem, type McpForm } from '#domain/form.ts';
import { storableJson } from '#domain/text/storable-text.ts';
import type { ApprovalBasis, ApprovalLedger } from '#store/approvals/approval-ledger.ts';
import type { SettleRecord } from '#store/approvals/settle-record.ts';
import { formPlace } from '../tool-call/call-outside.ts';
import type { CallDeps } from '../tool-call/call-deps.ts';
import { callDigest } from '../tool-call/call-digest.ts';

export type Settling = Omit<SettleRecord, 'status' | 'call' | 'edit' | 'allow'>;

/** The server's call continues with the answer: accepted as shown, edited, or declined. */
export async function settleForm(
  deps: Pick<CallDeps, 'sealer' | 'scrubber'> & { readonly approvals: Pick<ApprovalLedger, 'settle'> },
  settled: Settling,
  { form, args: shown, tool }: ApprovalBasis & { readonly form: McpForm },
  { decision, args = shown }: DecideInput,
): Promise<SettleApprovalResult> {
  switch (decision) {
    case 'reject':
      return deps.approvals.settle({ ...settled, status: 'denied' });
    case 'approve':
    case 'edit': {
      const problem = answerProblem(form, args);
      if (problem !== undefined)
        return refused('Unprocessable', `${problem}; decide edit, with args that answer the form`);
      if (decision === 'approve') return deps.approvals.settle({ ...settled, status: 'approved' });
      const sealed = deps.sealer.seal(JSON.stringify(args), formPlace(settled.tenant, settled.id));
      const seen = storableJson(deps.scrubber.args(args));
      const summary = deps.scrubber.preview(`${tool}: ${JSON.stringify(seen)}`, FORM_SUMMARY);
      const edit = { args: seen, digest: callDigest(`${tool}?`, args), summary, sealed };
      return deps.approvals.settle({ ...settled, status: 'approved', edit });
    }
    case 'approve_always':
    case 'respond':
      return refused('Unprocessable', `a question of an MCP server cannot be decided by ${decision}`);
  }
}

/** Greatest number of characters of the summary. */
const FORM_SUMMARY = 120;

export function refused(
  type: Extract<SettleApprovalResult, { kind: 'refused' }>['type'],
  message: string,
  noted?: RefusedRequest,
): SettleApprovalResult {
  return { kind: 'refused', type, message, ...(noted && { noted }) };
}
