/** Budgets and use on the wire and in the settings (DU-7). */
import { z } from 'zod';
import {
  AGENT_BUDGET_SCOPES,
  BUDGET_MEASURES,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  MAX_AGENT_BUDGETS,
  MAX_BUDGETS,
  ON_LIMIT,
} from '../budget/budget.ts';
import { isName, isSessionKey } from '../ids.ts';
import { MODEL_USE_KINDS } from '../budget/model-use.ts';
import { type Kept, labelSchema, nameSchema, sessionKeySchema, textSchema, timeSchema } from './scalars.ts';

const whole = z.int().min(1).max(1e15);
const usd = z.number().positive().max(1e9);
const seconds = z.number().positive().max(1e9);

const fields = {
  scope: z.enum(BUDGET_SCOPES).describe('Whose use is counted together'),
  subject: labelSchema
    .optional()
    .describe('One session, agent or team; without it each has the limits for itself'),
  tokens: whole.optional().describe('Tokens read and written'),
  usd: usd.optional().describe('US dollars'),
  seconds: seconds.optional().describe('Seconds of model calls and costly tools'),
  calls: whole.optional().describe('Model calls and calls of costly tools'),
  period: z.enum(BUDGET_PERIODS).optional().describe('`total` when absent; days are UTC'),
  on_limit: z.enum(ON_LIMIT).optional().describe('`ask` for more when absent, or `stop`'),
  reserve: z
    .strictObject({ tokens: whole.optional(), usd: usd.optional(), seconds: seconds.optional() })
    .optional()
    .describe('Reserved for a call, unless the call before it used more'),
};

/** Accepts any combination of limits. */
export const anyBudgetSchema = z.strictObject(fields);

/** The limits are amounts; a measure without an amount has no limit. `reserve` defaults to DEFAULT_RESERVE. */
export type Budget = Kept<typeof anyBudgetSchema>;

/** Undefined for a budget that can be used; otherwise the reason. */
export function budgetProblem(budget: Budget): string | undefined {
  const limited = BUDGET_MEASURES.filter((measure) => budget[measure] !== undefined);
  if (limited.length === 0) return `names no limit; give one of ${BUDGET_MEASURES.join(', ')}`;
  const { scope, subject, period = 'total', reserve = {} } = budget;
  const problem = subjectProblem(scope, subject);
  if (problem !== undefined) return problem;
  if (scope === 'turn' && period !== 'total') return 'a turn has one total, no period';
  for (const measure of ['tokens', 'usd', 'seconds'] as const) {
    const limit = budget[measure];
    const required = reserve[measure];
    if (required === undefined) continue;
    if (limit === undefined) return `reserve.${measure} is given without a limit on ${measure}`;
    if (required > limit) return `reserve.${measure} is more than the limit, so that nothing could run`;
  }
  return undefined;
}

function subjectProblem(scope: Budget['scope'], subject: string | undefined): string | undefined {
  if (subject === undefined) return undefined;
  if (scope === 'turn' || scope === 'tenant') return `a budget of a ${scope} has no subject`;
  if (scope === 'session' ? isSessionKey(subject) : isName(subject)) return undefined;
  return `subject "${subject}" is no key of ${scope === 'agent' ? 'an' : 'a'} ${scope}, so that the budget would hold for nobody`;
}

/** Finds two budgets of one list that would use the same account: [index of the second, its name]. */
export function sameBudgetTwice(budgets: readonly Budget[]): readonly [number, string] | undefined {
  const seen = new Set<string>();
  for (const [index, { scope, subject, period = 'total' }] of budgets.entries()) {
    const name = [scope, subject ?? 'each', period].join(' ');
    if (seen.has(name)) return [index, name];
    seen.add(name);
  }
  return undefined;
}

function refine<Schema extends z.ZodType<Budget>>(schema: Schema): Schema {
  return schema.superRefine((budget, context) => {
    const message = budgetProblem(budget);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

function listOf<Schema extends z.ZodType<Budget>>(schema: Schema, max: number) {
  return z
    .array(schema)
    .max(max)
    .superRefine((budgets, context) => {
      const twice = sameBudgetTwice(budgets);
      if (twice)
        context.addIssue({ code: 'custom', path: [twice[0]], message: `${twice[1]} is there twice` });
    });
}

export const budgetFieldsSchema = refine(anyBudgetSchema).meta({
  examples: [{ scope: 'tenant', usd: 20, period: 'day', on_limit: 'ask' }],
});

/** `budgets` of tempoclaw.yaml: they apply to each tenant separately. */
export const settingsBudgetsSchema = listOf(refine(anyBudgetSchema), MAX_BUDGETS);

const { subject: _, ...ownFields } = fields;

/** `budgets` of an agent: for its own turns and sessions, and all of them together. */
export const agentBudgetsSchema = listOf(
  refine(z.strictObject({ ...ownFields, scope: z.enum(AGENT_BUDGET_SCOPES) })),
  MAX_AGENT_BUDGETS,
);

export const budgetIdSchema = textSchema(300);

export const accountSchema = z.object({
  subject: z.string().describe('Turn, session, agent or team; empty for the tenant'),
  since: z.string().meta({ format: 'date', description: 'First day of the period' }),
  measure: z.enum(BUDGET_MEASURES),
  spent: z.number(),
  reserved: z.number().describe('Held for calls that run'),
  extra: z.number().describe('Allowed on top of the limit by decisions'),
});

/** An account of any budget, including those of the settings (`settings:…`) and of agents (`agent:…`). */
export const budgetAccountSchema = accountSchema.extend({ budget: budgetIdSchema });

/** What is left now: one limit of a budget, for one of those that it counts for. */
export const budgetUseSchema = budgetAccountSchema.extend({
  scope: z.enum(BUDGET_SCOPES),
  subject: z.string().describe('Empty for the tenant, and where nothing counts for it yet'),
  limit: z.number(),
  on_limit: z.enum(ON_LIMIT),
  renews_at: timeSchema.nullable().describe('When the next period begins; null for a total'),
});

export const budgetSchema = z.object({
  id: budgetIdSchema,
  ...fields,
  accounts: z
    .array(accountSchema)
    .describe('Of the newest period, most used first, at most 100; none for scope `turn`'),
  created_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export const USAGE_KEYS = ['agent', 'user', 'session', 'model', 'day', 'kind'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];

const USAGE_KINDS = ['answer', ...MODEL_USE_KINDS] as const;

const dateSchema = z.iso.date();

export const usageQuerySchema = z.strictObject({
  by: z
    .string()
    .max(100)
    .default('day')
    .transform((text) => [...new Set(text.split(','))])
    .pipe(z.array(z.enum(USAGE_KEYS)).min(1))
    .describe(`What to tell apart: ${USAGE_KEYS.join(', ')}, joined by commas`),
  from: dateSchema.optional().describe('First day, UTC; 30 days ago when absent'),
  to: dateSchema.optional().describe('Last day, UTC; today when absent'),
  agent: nameSchema.optional(),
  user: labelSchema.optional(),
  session: sessionKeySchema.optional(),
  model: labelSchema.optional(),
});

export const usageSchema = z.object({
  from: dateSchema,
  to: dateSchema,
  data: z.array(
    z.object({
      agent: nameSchema.optional(),
      user: z.string().optional().describe('Empty for use without a user'),
      session: z.string().optional().describe('Empty for use without a session'),
      model: z.string().optional(),
      day: dateSchema.optional(),
      kind: z
        .enum(USAGE_KINDS)
        .optional()
        .describe('`failed`: broke off, estimated; `unused`: came too late'),
      calls: z.int(),
      input_tokens: z.int(),
      output_tokens: z.int(),
      cached_tokens: z.int(),
      cost_usd: z.number().nullable().describe('Of the calls whose price is known'),
      unpriced_calls: z.int(),
    }),
  ),
  truncated: z.boolean().describe('There is more than 1,000 rows: ask for fewer days'),
});
