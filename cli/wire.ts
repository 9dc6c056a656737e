/** The types of the API's answers, taken from the API's own schemas; types only, so that no schema code is loaded. */
import type { z } from 'zod';
import type { agentSchema } from '#domain/schema/agent.ts';
import type { budgetSchema, usageSchema } from '#domain/schema/budget.ts';
import type { switchSchema } from '#domain/resource/tool-switches.ts';
import type {
  approvalDetailSchema,
  approvalSchema,
  approvalTokenSchema,
  bulkReceiptSchema,
  decisionReceiptSchema,
} from '#domain/schema/approval.ts';
import type { messageReceiptSchema, messageSchema } from '#domain/schema/message.ts';
import type { sessionSchema } from '#domain/schema/session.ts';
import type { toolInvocationSchema, toolSchema } from '#domain/schema/tool.ts';
import type { toolCallSchema, turnSchema } from '#domain/schema/turn.ts';

export type Agent = z.infer<typeof agentSchema>;
export type Approval = z.infer<typeof approvalSchema>;
export type ApprovalDetail = z.infer<typeof approvalDetailSchema>;
export type ApprovalToken = z.infer<typeof approvalTokenSchema>;
export type Budget = z.infer<typeof budgetSchema>;
export type BulkReceipt = z.infer<typeof bulkReceiptSchema>;
export type DecisionReceipt = z.infer<typeof decisionReceiptSchema>;
export type MessageReceipt = z.infer<typeof messageReceiptSchema>;
export type Message = z.infer<typeof messageSchema>;
export type Session = z.infer<typeof sessionSchema>;
export type ToolInvocation = z.infer<typeof toolInvocationSchema>;
export type Tool = z.infer<typeof toolSchema>;
export type ToolSwitch = z.infer<typeof switchSchema>;
export type ToolCall = z.infer<typeof toolCallSchema>;
export type Turn = z.infer<typeof turnSchema>;
export type Usage = z.infer<typeof usageSchema>;

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}
