/** Defines which approvals a request means: the filter of a list and of a bulk decision. */
import type { z } from 'zod';
import type { ApprovalFilter } from '#store/approvals/approval-store.ts';
import type { approvalFilterSchema } from '#domain/schema/approval.ts';

export function readApprovalFilter(query: Partial<z.output<typeof approvalFilterSchema>>): ApprovalFilter {
  return {
    status: query.status,
    session: query.session_key,
    turn: query.turn_id,
    agent: query.agent,
    tool: query.tool,
    user: query.user,
    assignee: query.assignee,
    requestedAfter: query.requested_after,
    requestedBefore: query.requested_before,
    mine: query.mine,
  };
}
