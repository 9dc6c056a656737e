/** Reads the JSON with which a hook answers. */
import { HOOK_LIMITS, hookAnswerSchema } from '#domain/schema/hook.ts';
import { schemaProblem } from '#domain/schema/problem-words.ts';
import type { HookAnswer } from '#domain/turn/hook.ts';

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('its answer is not JSON');
  }
}

/** No answer allows. Throws for an invalid one. */
export function readAnswer(text: string): HookAnswer {
  if (text.trim() === '') return { decision: 'allow' };
  if (text.length > HOOK_LIMITS.answer) throw new Error('its answer is too long');
  const read = hookAnswerSchema.safeParse(jsonOf(text));
  if (!read.success) throw new Error(`its answer is not valid: ${schemaProblem(read.error, 'the answer')}`);
  return read.data;
}
