/**
 * The shape of a rehearsal script as a person writes it (docs/rehearsal.md), with messages that say what is allowed.
 */
import { z } from 'zod';
import { MODEL_ERROR_CODES } from '#domain/model/model.ts';

/** A strict object whose message for an unknown key lists the known ones. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown key ${issue.keys?.join(', ') ?? ''}; allowed: ${allowed}`
        : `expected a mapping with ${allowed}`,
  });
}

/** The longest pause in a script: an hour, more than any activity's time limit. */
const MAX_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `250`, `'250ms'`, `'1.5s'`, `'2m'` in milliseconds; undefined for other text or more than an hour. */
export function durationMs(value: string | number): number | undefined {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(String(value).trim());
  const ms = found ? Number(found[1]) * (UNITS[found[2] ?? 'ms'] ?? 1) : Number.NaN;
  return ms >= 0 && ms <= MAX_MS ? ms : undefined;
}

const durationText = "milliseconds, or '500ms', '2s', '1m' (at most an hour), or a placeholder";
const duration = z
  .union([z.number(), z.string()], { error: `expected ${durationText}` })
  .refine((value) => String(value).includes('{{') || durationMs(value) !== undefined, {
    error: `expected ${durationText}`,
  });

const textMatch = z.union(
  [
    z.string().min(1),
    z.array(z.string().min(1)).min(1).max(50),
    z.strictObject({ regex: z.string().min(1), flags: z.string().optional() }),
  ],
  { error: 'expected a text to look for, a list of texts (any of them), or { regex: …, flags: … }' },
);

const bound = z.union([z.number().int().min(0), z.string().includes('{{')], {
  error: 'expected a whole number or a placeholder',
});
const countMatch = z.union(
  [z.number().int().min(0), z.strictObject({ from: bound.optional(), below: bound.optional() })],
  {
    error: 'expected a whole number, or { from: N, below: M } (from is included, below is not)',
  },
);

const names = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(50)], {
  error: 'expected a tool name or a list of tool names',
});

const when = strict({
  always: z.literal(true).optional(),
  user: textMatch.optional(),
  system: textMatch.optional(),
  result: textMatch.optional(),
  result_ok: z.boolean().optional(),
  last_tool: names.optional(),
  offers: names.optional(),
  step: countMatch.optional(),
  turn: countMatch.optional(),
  attempt: countMatch.optional(),
  tokens: countMatch.optional(),
  param: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
});

const call = strict({
  tool: z.string().min(1),
  args: z
    .union([z.record(z.string(), z.unknown()), z.string()], {
      error: 'expected a mapping of arguments, or a text that is JSON after its placeholders are filled in',
    })
    .optional(),
  times: z
    .union([z.number().int().min(0).max(1000), z.string().includes('{{')], {
      error: 'expected how many copies of the call to ask for (at most 1000), or a placeholder',
    })
    .optional(),
});

const stream = strict({ chunk: z.number().int().min(1).max(10_000), every: duration });

const error = strict({
  code: z.enum(MODEL_ERROR_CODES, { error: `expected one of ${MODEL_ERROR_CODES.join(', ')}` }).optional(),
  status: z.number().int().min(400).max(599).optional(),
  message: z.string().optional(),
  retry_after: duration.optional(),
  times: z.number().int().min(1).optional(),
});

const reply = strict({
  text: z.string().optional(),
  calls: z.array(call).min(1).max(100).optional(),
  thinking: z.string().optional(),
  follow: z.literal('user', { error: "expected 'user'" }).optional(),
  delay: duration.optional(),
  stream: stream.optional(),
  error: error.optional(),
  finish: z.enum(['stop', 'calls', 'length', 'filtered']).optional(),
  usage: strict({
    input: z.number().int().min(0).optional(),
    output: z.number().int().min(0).optional(),
    cached: z.number().int().min(0).optional(),
  }).optional(),
});

const param = z.union(
  [
    z.string(),
    z.number(),
    z.strictObject({ default: z.number(), min: z.number().optional(), max: z.number().optional() }),
  ],
  { error: 'expected a default (text or number), or { default: N, min: N, max: N }' },
);

export const scriptSchema = strict({
  description: z.string().optional(),
  params: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/), param).optional(),
  delay: duration.optional(),
  stream: stream.optional(),
  rules: z
    .array(strict({ name: z.string().optional(), when: when.optional(), reply }))
    .min(1)
    .max(500),
});

export type WrittenScript = z.infer<typeof scriptSchema>;
export type WrittenWhen = z.infer<typeof when>;
export type WrittenReply = z.infer<typeof reply>;
