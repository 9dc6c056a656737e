/** Hooks on the wire: their settings and their answers. */
import { z } from 'zod';
import { httpUrl, jsonObjectSchema, labelSchema, textSchema, wordsSchema } from '#domain/schema/scalars.ts';

export const HOOK_EVENTS = ['session_start', 'user_prompt_submit', 'pre_tool_use', 'subagent_start'] as const;

export const HOOK_TYPES = ['command', 'http', 'prompt', 'code'] as const;

export const HOOK_LIMITS = {
  /** Number of hooks in one layer. */
  hooks: 20,
  seconds: 5,
  maxSeconds: 10,
  /** Total seconds of the hooks for one call or prompt. */
  chainSeconds: 10,
  /** Total seconds of the hooks in one step. */
  stepSeconds: 60,
  /** Characters of an answer. */
  answer: 65_536,
  reason: 2_000,
} as const;

/** The field that a hook of each type needs, then those that it may have besides. */
const FIELDS_OF_TYPE = {
  command: ['command'],
  http: ['url', 'headers'],
  prompt: ['prompt', 'model'],
  code: ['code'],
} as const;

const TYPED_FIELDS = Object.values(FIELDS_OF_TYPE).flat();

type HookFields = Readonly<Partial<Record<(typeof TYPED_FIELDS)[number], unknown>>> & {
  readonly type: (typeof HOOK_TYPES)[number];
  readonly event: (typeof HOOK_EVENTS)[number];
  readonly tools?: readonly string[] | undefined;
};

/** Says why the hook could never run as it is written; undefined when it can. */
function hookProblem(hook: HookFields): string | undefined {
  const fields: readonly (typeof TYPED_FIELDS)[number][] = FIELDS_OF_TYPE[hook.type];
  const [needed] = FIELDS_OF_TYPE[hook.type];
  if (hook[needed] === undefined) return `a hook of type ${hook.type} needs ${needed}`;
  const other = TYPED_FIELDS.find((field) => hook[field] !== undefined && !fields.includes(field));
  if (other !== undefined) return `${other} says nothing of a hook of type ${hook.type}`;
  const ofTools = hook.event === 'pre_tool_use' || hook.event === 'subagent_start';
  return hook.tools && !ofTools ? `tools says nothing of ${hook.event}` : undefined;
}

/** Names of headers that contain a credential. */
const CREDENTIAL = /authorization|cookie|token|secret|password|key/i;

/** What a request can carry: one line, each sign of it one byte. */
const headerValue = z
  .string()
  .max(4_000)
  .regex(/^[\t -~\u0080-\u00ff]*$/, 'must be one line of letters that a header can have');

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
    command: wordsSchema(10_000)
      .optional()
      .describe('Gets the event on standard input, where the agent’s commands run'),
    url: httpUrl.max(2_000).optional().describe('Gets the event as the body of a POST'),
    headers: z
      .record(z.string().regex(/^[A-Za-z0-9-]{1,100}$/), headerValue)
      .optional()
      .describe('Values may be `secret://NAME`'),
    prompt: wordsSchema(10_000).optional().describe('What a model is to decide by'),
    model: z.string().max(300).optional().describe('`provider/model`; the agent’s own when absent'),
    code: z
      .string()
      .regex(/^[a-z][a-z0-9_-]{0,39}\/[a-z][a-z0-9_]{0,63}$/, 'must be HOST/NAME')
      .optional()
      .describe('`HOST/NAME`: a hook of a tool host, which `deploy` brings'),
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
