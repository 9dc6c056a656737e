/** Hooks on the wire: their settings and their answers. */
import { z } from 'zod';
import { HOOK_EVENTS, HOOK_LIMITS, HOOK_TYPES, hookProblem } from '../turn/hook.ts';
import { httpUrl, jsonObjectSchema, labelSchema, textSchema } from '#domain/schema/scalars.ts';

/** Names of headers that contain a credential. */
const CREDENTIAL = /authorization|cookie|token|secret|password|key/i;

export const hookSchema = z
  .strictObject({
    event: z.enum(HOOK_EVENTS),
    name: labelSchema.optional(),
    tools: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(100)
      .optional()
      .describe('Names, globs or groups as in rules; all tools when absent'),
    type: z.enum(HOOK_TYPES),
    command: textSchema(10_000)
      .optional()
      .describe('Gets the event on standard input, where the agent’s commands run'),
    url: httpUrl.max(2_000).optional().describe('Gets the event as the body of a POST'),
    headers: z
      .record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), z.string().max(4_000))
      .optional()
      .describe('Values may be `secret://NAME`'),
    prompt: textSchema(10_000).optional().describe('What a model is to decide by'),
    model: z.string().max(300).optional().describe('`provider/model`; the agent’s own when absent'),
    timeout_seconds: z.number().positive().max(HOOK_LIMITS.maxSeconds).optional(),
  })
  .superRefine((hook, context) => {
    const message = hookProblem(hook);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
    for (const [name, value] of Object.entries(hook.headers ?? {}))
      if (CREDENTIAL.test(name) && !value.includes('secret://'))
        context.addIssue({
          code: 'custom',
          path: ['headers', name],
          message: 'must refer to a secret, such as secret://NAME: whoever may read an agent sees its hooks',
        });
  });

export const hooksSchema = z.array(hookSchema).max(HOOK_LIMITS.hooks);

/** What a hook answers. An empty answer allows; any other that does not match this denies. */
export const hookAnswerSchema = z.strictObject({
  decision: z.enum(['allow', 'ask', 'deny']).default('allow'),
  reason: z.string().max(HOOK_LIMITS.reason).optional(),
  /** Replaces the call's arguments. */
  input: jsonObjectSchema.optional(),
  /** Replaces the user's prompt. */
  prompt: textSchema(HOOK_LIMITS.answer).optional(),
});

/** What is recorded of one run. */
export const hookRunSchema = z.object({
  hook: z.string(),
  event: z.enum(HOOK_EVENTS),
  decision: z.enum(['allow', 'ask', 'deny']),
  reason: z.string().optional(),
  changed: z.array(z.string()).optional().describe('Arguments that it replaced, or `prompt`'),
  milliseconds: z.int(),
});
