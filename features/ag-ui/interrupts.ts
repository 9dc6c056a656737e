/** Approvals as interrupts: what a person is asked, and the shape of the answer. */
import type { Interrupt } from '@ag-ui/core';
import { type FormField, formLines, type McpForm } from '#domain/form.ts';
import { showHidden } from '#domain/text/hidden-text.ts';
import type { ApprovalRow } from '#store/approvals/approval-store.ts';

/** `turn`: the one that waits, whose own calls the client sees. */
export function interruptOf(approval: ApprovalRow, turn: string): Interrupt {
  const { id, call_id, turn_id, tool, summary, reason, risk, form, expires_at } = approval;
  const isOwn = turn_id === turn;
  const words = form ? formLines(form) : [summary, ...(reason === null ? [] : [reason])];
  return {
    id,
    reason: form ? 'input_required' : isOwn ? 'tool_call' : 'confirmation',
    message: showHidden(words.join('\n')),
    ...(isOwn && { toolCallId: call_id }),
    responseSchema: answerSchema(approval),
    expiresAt: expires_at.toISOString(),
    metadata: { tempoclaw: { tool, risk, agent: approval.agent_key, session: approval.session_key } },
  };
}

/** An edit of masked arguments would have to repeat the secrets, which the client does not have. */
function answerSchema({ form, is_masked }: ApprovalRow): Record<string, unknown> {
  const canEdit = form ? form.fields.length > 0 : !is_masked;
  const editedArgs = form
    ? formSchema(form)
    : { type: 'object', description: 'The whole arguments to run instead' };
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      reason: { type: 'string', description: 'Why it is refused; the agent reads it' },
      ...(canEdit && { editedArgs }),
    },
    required: ['approved'],
  };
}

function formSchema({ fields }: McpForm): object {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
    required: fields.flatMap(({ name, required }) => (required ? [name] : [])),
  };
}

function fieldSchema({ type, title, description, options, format, default: standard }: FormField): object {
  const values = options && { enum: options.map(({ value }) => value) };
  const text = { title, description, default: standard };
  if (type === 'choices') return { ...text, type: 'array', items: { type: 'string', ...values } };
  return { ...text, type, format, ...values };
}
