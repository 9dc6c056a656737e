/** The types of the API's answers, taken from the API's own schemas; types only, so that no schema code is loaded. */
import type { z } from 'zod';
import type { agentSchema } from '#domain/schema/agent.ts';
import type { budgetAccountSchema, budgetSchema, usageSchema } from '#domain/schema/budget.ts';
import type { approvalLinkSchema } from '#domain/schema/approval-link.ts';
import type {
  approvalDetailSchema,
  approvalSchema,
  approvalTokenSchema,
  bulkReceiptSchema,
  decisionReceiptSchema,
} from '#domain/schema/approval.ts';
import type {
  delegationDetailSchema,
  delegationSchema,
  evaluationDetailSchema,
  evaluationSchema,
  subagentSchema,
  subagentSteerReceiptSchema,
} from '#domain/schema/assignment.ts';
import type { messageReceiptSchema, messageSchema, stopReceiptSchema } from '#domain/schema/message.ts';
import type { sessionSchema } from '#domain/schema/session.ts';
import type { taskEventSchema, taskReceiptSchema, taskSchema } from '#domain/schema/team-task.ts';
import type { toolInvocationSchema, toolSchema } from '#domain/schema/tool.ts';
import type { toolCallSchema, turnSchema } from '#domain/schema/turn.ts';

export type Agent = z.infer<typeof agentSchema>;
export type Approval = z.infer<typeof approvalSchema>;
export type ApprovalDetail = z.infer<typeof approvalDetailSchema>;
export type ApprovalLink = z.infer<typeof approvalLinkSchema>;
export type ApprovalToken = z.infer<typeof approvalTokenSchema>;
export type Budget = z.infer<typeof budgetSchema>;
export type BudgetAccount = z.infer<typeof budgetAccountSchema>;
export type BulkReceipt = z.infer<typeof bulkReceiptSchema>;
export type DecisionReceipt = z.infer<typeof decisionReceiptSchema>;
export type Delegation = z.infer<typeof delegationSchema>;
export type DelegationDetail = z.infer<typeof delegationDetailSchema>;
export type Evaluation = z.infer<typeof evaluationSchema>;
export type EvaluationDetail = z.infer<typeof evaluationDetailSchema>;
export type MessageReceipt = z.infer<typeof messageReceiptSchema>;
export type Message = z.infer<typeof messageSchema>;
export type StopReceipt = z.infer<typeof stopReceiptSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type Subagent = z.infer<typeof subagentSchema>;
export type SubagentSteerReceipt = z.infer<typeof subagentSteerReceiptSchema>;
export type TeamTask = z.infer<typeof taskSchema>;
export type TeamTaskEvent = z.infer<typeof taskEventSchema>;
export type TeamTaskReceipt = z.infer<typeof taskReceiptSchema>;
export type ToolInvocation = z.infer<typeof toolInvocationSchema>;
export type Tool = z.infer<typeof toolSchema>;
export type ToolCall = z.infer<typeof toolCallSchema>;
export type Turn = z.infer<typeof turnSchema>;
export type Usage = z.infer<typeof usageSchema>;

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}
