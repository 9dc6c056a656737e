/** A call whose result is known before it could run. */
import { preview } from '@tempoclaw/scrubber';
import type { ToolErrorCode } from '#domain/errors.ts';
import { cutText } from '#domain/text/cut-text.ts';
import { MODEL_RESULT_BYTES } from '#domain/tool.ts';
import type { NewCall } from '#store/turns/answer-record.ts';

const PREVIEW = 200;

/** The call with its result, as if it had run. `isRun` is false for one that people or rules have refused. */
export function answeredCall(
  { approval_id: _approval, ...call }: NewCall,
  answer: {
    readonly ok: boolean;
    readonly code: ToolErrorCode | null;
    readonly text: string;
    readonly isRun: boolean;
  },
): NewCall {
  const { text } = cutText(answer.text, MODEL_RESULT_BYTES, 'the recording');
  return {
    ...call,
    state: 'done',
    ...(answer.isRun && { ran: true as const }),
    reason: call.reason ?? preview(text, { chars: PREVIEW }),
    ok: answer.ok,
    ...(answer.code && { code: answer.code }),
    result: text,
  };
}
