/** Custom tools in requests and answers, and what each promises about a second run. */
import { ADDED_REPLAY, envNameProblem } from '#domain/added-tool.ts';
import { z } from 'zod';
import { type Parameters, parameterProblems } from './rules/check-parameters.ts';
import { customNameProblem, DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS } from './rules/definition.ts';
import { TEMPLATE_LIMITS } from './rules/template.ts';
import { jsonObjectSchema, nameSchema, textSchema, timeSchema } from '#domain/schema/scalars.ts';

/** Reports the problem of a text that has one. */
function checked(problem: (text: string) => string | undefined) {
  return z.string().superRefine((text, context) => {
    const message = problem(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

const parametersSchema = jsonObjectSchema
  .superRefine((input, context) => {
    for (const message of parameterProblems(input)) context.addIssue({ code: 'custom', message });
  })
  .transform((input) => ({ properties: {}, ...input }) as Parameters);

const MAX_ENV = 100;
const envSchema = z
  .record(
    checked(envNameProblem),
    z
      .string()
      .max(32_768)
      .refine((value) => !value.includes('\0'), 'holds a NUL'),
  )
  .refine((env) => Object.keys(env).length <= MAX_ENV, `at most ${MAX_ENV} variables`);

/** Requires a folder within the workspace, where the file tools also are: an absolute one could be another tenant's. */
function folderProblem(path: string): string | undefined {
  if (path === '' || path.length > 1000 || path.includes('\0')) return 'must have 1 to 1000 characters';
  const isOutside = path.startsWith('/') || path.startsWith('~') || path.split('/').includes('..');
  return isOutside ? "must be a folder below the agent's workspace, such as reports" : undefined;
}

const fields = {
  name: checked(customNameProblem),
  description: z.string().max(4_000),
  parameters: parametersSchema.describe(
    'JSON Schema (draft 2020-12) of the arguments; every {{.key}} as a required text when absent',
  ),
  command: textSchema(TEMPLATE_LIMITS.characters),
  working_dir: checked(folderProblem).nullable(),
  timeout_seconds: z
    .int()
    .max(MAX_TIMEOUT_SECONDS)
    .transform((seconds) => (seconds > 0 ? seconds : DEFAULT_TIMEOUT_SECONDS)),
  env: envSchema.nullable().describe('Write-only: answers have `env_names`'),
  agent_id: nameSchema.nullable().describe('Key of the only agent that has it; null for all'),
  enabled: z.boolean(),
  replay: z.enum(ADDED_REPLAY).describe('What a second run would do'),
};

export const customToolCreateSchema = z
  .strictObject({
    ...fields,
    description: fields.description.default(''),
    parameters: fields.parameters.optional(),
    working_dir: fields.working_dir.default(null),
    timeout_seconds: fields.timeout_seconds.default(DEFAULT_TIMEOUT_SECONDS),
    env: fields.env.default(null),
    agent_id: fields.agent_id.default(null),
    enabled: fields.enabled.default(true),
    replay: fields.replay.default('once'),
  })
  .meta({
    examples: [
      {
        name: 'dns_lookup',
        description: 'Look up DNS records for a domain',
        parameters: {
          type: 'object',
          properties: {
            domain: { type: 'string', description: 'Domain name' },
            record_type: { type: 'string', enum: ['A', 'AAAA', 'MX', 'CNAME', 'TXT'] },
          },
          required: ['domain'],
        },
        command: 'dig +short {{.record_type}} {{.domain}}',
        timeout_seconds: 10,
        replay: 'readonly',
      },
    ],
  });

/**
 * Fields that are present replace the old ones whole; null removes an optional one. Unknown fields are ignored, as in
 * other systems.
 */
export const customToolChangeSchema = z
  .object({ ...fields, parameters: fields.parameters.nullable() })
  .partial()
  .meta({ examples: [{ timeout_seconds: 30, enabled: false }] });

/** The tool as the API returns it; it contains no values of variables. */
export const customToolSchema = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  parameters: jsonObjectSchema,
  command: z.string(),
  working_dir: z.string().nullable(),
  timeout_seconds: z.int(),
  env_names: z.array(z.string()),
  agent_id: z.string().nullable(),
  enabled: z.boolean(),
  replay: z.enum(ADDED_REPLAY),
  revision: z.int(),
  created_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

export const customToolTestSchema = z
  .strictObject({
    args: jsonObjectSchema.default({}),
    agent_id: nameSchema.optional().describe('Whose rules apply: the tool’s own agent, else `main`'),
  })
  .meta({ examples: [{ args: { domain: 'example.com' } }] });

export const customToolVerdictSchema = z.object({
  command: z.string().nullable().describe('What would run; null when the arguments are refused'),
  decision: z.enum(['allow', 'ask', 'deny']),
  step: z.string().describe('What decided: `arguments`, `shell`, or a step or rule of the policy'),
  rule: z.string().nullable(),
  reason: z.string(),
});
