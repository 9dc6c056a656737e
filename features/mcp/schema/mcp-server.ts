/** MCP servers in requests and answers. */
import { ADDED_REPLAY, envNameProblem } from '#domain/added-tool.ts';
import { z } from 'zod';
import { isRecord } from '#domain/outside-value.ts';
import {
  changeShape,
  jsonObjectSchema,
  labelSchema,
  textSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

export const MCP_TRANSPORTS = ['stdio', 'sse', 'streamable-http'] as const;

/**
 * `degraded` means lost and being retried; `failed` means given up for some minutes, or until somebody requests a
 * check.
 */
export const MCP_STATUSES = ['connecting', 'ready', 'degraded', 'failed'] as const;
export type McpStatus = (typeof MCP_STATUSES)[number];

export const MCP_CREDENTIALS = ['shared', 'per_user'] as const;

export const MCP_ORIGINS = ['api', 'settings'] as const;

export const GRANT_KINDS = ['agent', 'user'] as const;

export const MCP_REQUEST_STATUSES = ['pending', 'approved', 'rejected'] as const;
export type McpRequestStatus = (typeof MCP_REQUEST_STATUSES)[number];

const NAME = /^(?!.*__)[A-Za-z][A-Za-z0-9_-]{0,39}$/;

/** It becomes a part of tools' names, which end at a double underscore. */
export const mcpServerNameSchema = z
  .string()
  .regex(NAME, 'must be 1 to 40 letters, digits, _ or -, begin with a letter and have no double underscore')
  .meta({ examples: ['github'] });

const MAX_VALUES = 100;

const values = <Key extends z.ZodType<string, string>>(key: Key) =>
  z
    .record(
      key,
      z
        .string()
        .max(32_768)
        .regex(/^[^\0\r\n]*$/, 'must be one line'),
    )
    .refine((all) => Object.keys(all).length <= MAX_VALUES, `at most ${MAX_VALUES} values`);

const variableName = z.string().superRefine((name, context) => {
  const message = envNameProblem(name);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

/** Headers of the connection and of the protocol cannot be set. */
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'must be the name of a header')
  .refine(
    (name) =>
      !/^(?:host|connection|content-.*|transfer-encoding|upgrade|te|trailer|accept|mcp-.*)$/i.test(name),
    'this header is set by TempoClaw',
  );

const fields = {
  transport: z.enum(MCP_TRANSPORTS).describe('`stdio` is a program on the worker’s machine'),
  command: z.string().max(1_000),
  args: z.array(z.string().max(4_000)).max(100),
  env: values(variableName).describe(
    'Of the program; may refer to secrets (`secret://NAME`). Write-only: answers have `env_names`',
  ),
  box: z.boolean().describe('The program runs in a box of its own, never on the host'),
  url: z.string().max(2_000),
  headers: values(headerName).describe(
    'Of each request; may refer to secrets (`secret://NAME`). Write-only: answers have `header_names`',
  ),
  enabled: z.boolean(),
  tool_prefix: z
    .union([z.literal(''), mcpServerNameSchema])
    .describe('In place of the name in its tools’ names'),
  timeout_sec: z.int().min(1).max(3_600).describe('Of one call'),
  internal_only: z.boolean().describe('Only for agents whose rules name its tools or group'),
  credentials: z
    .enum(MCP_CREDENTIALS)
    .describe('`per_user`: a call runs over a connection with the credentials of its user'),
  require_grant: z.boolean().describe('Only for agents and users with a grant'),
  trust_hints: z
    .boolean()
    .describe(
      'What the server says of its tools (`readOnlyHint`, `idempotentHint`) decides what is run again after a crash',
    ),
  sampling: z.boolean().describe('It may ask the agent’s model for answers; people are asked each time'),
  replay: z
    .record(z.string().max(100), z.enum(ADDED_REPLAY))
    .refine((all) => Object.keys(all).length <= 200, 'at most 200 tools')
    .describe('What a second run would do, by the server’s name of a tool; `once` unless said'),
};

const input = {
  ...fields,
  transport: fields.transport.optional().describe('As `command` or `url` says'),
  command: fields.command.default(''),
  args: fields.args.default([]),
  env: fields.env.default({}),
  box: fields.box.default(false),
  url: fields.url.default(''),
  headers: fields.headers.default({}),
  enabled: fields.enabled.default(true),
  tool_prefix: fields.tool_prefix.default(''),
  timeout_sec: fields.timeout_sec.default(60),
  internal_only: fields.internal_only.default(false),
  credentials: fields.credentials.default('shared'),
  require_grant: fields.require_grant.default(false),
  trust_hints: fields.trust_hints.default(false),
  sampling: fields.sampling.default(false),
  replay: fields.replay.default({}),
};

export const mcpServerCreateSchema = z.strictObject({ name: mcpServerNameSchema, ...input }).meta({
  examples: [
    {
      name: 'github',
      url: 'https://api.githubcopilot.com/mcp/',
      headers: { Authorization: 'secret://github_mcp' },
    },
  ],
});

/**
 * MC-4: servers of the settings file, by name. `type: http` and `disabled` are accepted as other programs write them.
 */
export const mcpServersSettingsSchema = z.record(
  mcpServerNameSchema,
  z.preprocess(
    fromCommonShape,
    z.strictObject({ ...input, internal_only: fields.internal_only.default(true) }),
  ),
);

export function fromCommonShape(server: unknown): unknown {
  if (!isRecord(server)) return server;
  const { type, transport = type === 'http' ? 'streamable-http' : type, disabled, ...rest } = server;
  return {
    ...rest,
    ...(transport !== undefined && { transport }),
    ...(disabled !== undefined && { enabled: disabled !== true }),
  };
}

export const mcpServerChangeSchema = z.strictObject(changeShape(fields));

const toolSchema = z.object({
  name: z.string().describe('As the server calls it'),
  tool: z.string().describe('As agents call it'),
  description: z.string().describe('As the server has it now'),
  enabled: z.boolean(),
  pinned_hash: z.string().nullable().describe('Of what somebody agreed to'),
  changed: z.literal(true).optional().describe('It is new or other than agreed: off until consent'),
  found_hash: z.string().optional().describe('Of what it is now, when that is not agreed to'),
  gone: z.literal(true).optional().describe('The server lists it no more'),
});

const { env: _env, headers: _headers, ...shown } = fields;

/** What is stored in clear text (`McpServerConfig`). */
export const mcpServerConfigSchema = z.object(shown);

export const mcpServerSchema = z.object({
  name: z.string(),
  ...shown,
  origin: z.enum(MCP_ORIGINS).describe('`settings`: changed in the settings file alone'),
  env_names: z.array(z.string()),
  header_names: z.array(z.string()),
  status: z.enum([...MCP_STATUSES, 'disabled']),
  error: z.string().nullable(),
  tools: z.array(toolSchema),
  updated_by: z.string(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

const own = (key: 'env' | 'headers') =>
  fields[key]
    .refine(
      (all) => !Object.values(all).some((value) => value.includes('secret://')),
      'a user’s own values refer to no secrets',
    )
    .default({})
    .describe('Write-only');

export const mcpUserCredentialsPutSchema = z.strictObject({ env: own('env'), headers: own('headers') });

export const mcpUserCredentialsSchema = z.object({
  user: z.string(),
  env_names: z.array(z.string()),
  header_names: z.array(z.string()),
  logged_in: z.boolean(),
  given_at: timeSchema.nullable(),
});

export const mcpLoginSchema = z.object({
  authorization_url: z.string().describe('To be opened in a browser'),
  expires_at: timeSchema,
});

export const mcpConsentSchema = z.strictObject({
  tools: z
    .array(z.strictObject({ name: z.string().max(100), hash: textSchema(64) }))
    .max(500)
    .optional()
    .describe('Only these, if they are still as seen (`found_hash`); all when absent'),
});

const globs = z.array(labelSchema).max(200);

const mcpOverridesSchema = z
  .strictObject({ timeout_sec: fields.timeout_sec.optional() })
  .describe('Of an agent’s grant: in place of what the server says');

export const mcpGrantPutSchema = z.strictObject({
  tool_allow: globs.default([]).describe('Globs over the server’s names of tools; none: all'),
  tool_deny: globs.default([]).describe('Wins over what is allowed'),
  enabled: z.boolean().default(true).describe('A grant that is off refuses'),
  config_overrides: mcpOverridesSchema.default({}),
});

export const mcpGrantKindSchema = z.enum(GRANT_KINDS);

export const mcpGrantSchema = z.object({
  kind: mcpGrantKindSchema,
  subject: z.string(),
  tool_allow: z.array(z.string()).describe('Globs over the server’s names of tools; none: all'),
  tool_deny: z.array(z.string()),
  enabled: z.boolean(),
  config_overrides: mcpOverridesSchema,
  updated_by: z.string(),
  updated_at: timeSchema,
});

export const mcpRequestCreateSchema = z.strictObject({
  server: mcpServerNameSchema,
  scope: mcpGrantKindSchema.describe('Whom the access is for'),
  subject: labelSchema.optional().describe('Key of the agent, or the user; that of the key when absent'),
  tool_allow: globs.default([]).describe('Globs over the server’s names of tools; none: all'),
  reason: textSchema(2_000),
});

export const mcpRequestReviewSchema = z
  .strictObject({
    decision: z.enum(['approve', 'reject']),
    reason: textSchema(2_000).optional().describe('Needed to reject'),
  })
  .refine(({ decision, reason }) => decision === 'approve' || reason !== undefined, {
    path: ['reason'],
    message: 'say why it is rejected',
  });

export const mcpRequestStatusSchema = z.enum(MCP_REQUEST_STATUSES);

export const mcpRequestSchema = z.object({
  id: z.string(),
  server: z.string(),
  scope: mcpGrantKindSchema,
  subject: z.string(),
  tool_allow: z.array(z.string()),
  reason: z.string(),
  status: mcpRequestStatusSchema,
  requested_by: z.string(),
  created_at: timeSchema,
  reviewed_by: z.string().nullable(),
  reviewed_at: timeSchema.nullable(),
  review_reason: z.string().nullable(),
});

/** The file in which other programs store their servers. */
export const mcpServersFileSchema = z.looseObject({ mcpServers: z.record(z.string(), jsonObjectSchema) });
