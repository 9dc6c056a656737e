/** The workflow that asks people about a guarded call: its id and input derive from the row, so any process can start it. */
import { plannedApproval } from '#activities/tool-call/planned-approval.ts';
import { APPROVAL, type ApprovalInput } from '#domain/approval/approval.ts';
import { approvalWorkflowId } from '#domain/ids.ts';
import type { WorkflowStart } from '#domain/workflow-reach.ts';
import type { GuardedCallRow } from './store.ts';

/** Undefined when nothing about the call waits for people. */
export function questionStart(tenant: string, row: GuardedCallRow): WorkflowStart | undefined {
  const { question, approval_id: id, session_key, agent_key: agent, summary, digest } = row;
  if (!id || question?.status !== 'pending') return undefined;
  const { terms, always, expires, until } = question;
  const shown = plannedApproval(id, expires, until, { digest: question.digest, terms, always, files: [] });
  const { id: _id, ...planned } = shown;
  const input: ApprovalInput = {
    ...planned,
    tenant,
    approval_id: id,
    summary,
    digest: question.digest || digest,
    session_key,
    turn_id: row.id,
  };
  return {
    type: APPROVAL.type,
    id: approvalWorkflowId(id),
    input,
    summary,
    tenant,
    session: session_key,
    agent,
    user: row.user_id ?? undefined,
  };
}
