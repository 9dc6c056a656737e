/** Which approvals a request means: the filter of a list, and of a bulk decision. */
import type { z } from 'zod';
import type { ApprovalFilter } from '#store/approval-store.ts';
import type { approvalFilterSchema } from '#domain/schema/approval.ts';

export function readApprovalFilter(given: Partial<z.output<typeof approvalFilterSchema>>): ApprovalFilter {
  return {
    status: given.status,
    session: given.session_key,
    turn: given.turn_id,
    agent: given.agent,
    tool: given.tool,
    user: given.user,
    requestedAfter: given.requested_after,
    requestedBefore: given.requested_before,
    mine: given.mine,
  };
}
