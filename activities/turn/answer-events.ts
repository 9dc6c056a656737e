/**
 * Events of a model's answer for the session's feed: its text, its questions to people, and what was refused
 * immediately.
 */
import { alwaysWords } from '#domain/approval/approval.ts';
import type { NewEvent } from '#domain/event.ts';
import type { HookRun } from '#domain/turn/hook.ts';
import type { ModelAnswer } from '#domain/model/model.ts';
import type { CallPlan } from '../tool-call/plan-calls.ts';

/** The stored text of an answer. One without text and calls says so, to users and to the giver of the work. */
export function answerText({ text, calls, finish }: ModelAnswer): string {
  if (text.trim() !== '' || calls.length > 0) return text;
  return finish === 'length'
    ? '[The model used up its output tokens before it said anything. Raise limits.output_tokens of the agent or lower its thinking.]'
    : '[The model ended its answer without a word. Ask again, or say what is missing.]';
}

/** `text` is scrubbed; an empty one makes no event. */
export function answerEvents(plan: CallPlan, messageId: string, text: string, step: number): NewEvent[] {
  const lines: NewEvent[] =
    text === '' ? [] : [{ type: 'message.completed', data: { message_id: messageId, text, step } }];
  const requests = plan.approvals.map((approval): NewEvent => {
    const { id, call_id, tool, summary, args, reason, risk, expires_at, always, files } = approval;
    return {
      type: 'approval.requested',
      data: {
        approval_id: id,
        call_id,
        tool,
        summary,
        args,
        reason,
        risk,
        expires_at,
        always: alwaysWords(always),
        files: files.length > 0 ? files : undefined,
      },
    };
  });
  const hooked = plan.calls.flatMap(({ id, hooks = [] }) => hookEvents(hooks, id));
  // Refused, or answered by a stand-in.
  const settled = plan.calls
    .filter((call) => call.state === 'done')
    .map((call): NewEvent => {
      const { id, tool, summary, ok = false, code, reason } = call;
      return {
        type: 'tool.completed',
        data: { call_id: id, tool, summary, step, ok, code, preview: reason },
      };
    });
  return [...lines, ...hooked, ...requests, ...settled];
}

/** `call` is the call that the hooks judged; absent for a prompt. */
export function hookEvents(ran: readonly HookRun[], call?: string): NewEvent[] {
  return ran.map((run) => ({ type: 'hook.decided', data: { ...run, call_id: call } }));
}
