/**
 * PO-4: the cases that explain accepts, one schema for each kind: over HTTP, and as one JSON object per line on the
 * command line.
 */
import { SHELL_SWITCHES } from '@tempoclaw/shell-judge/switches';
import { z } from 'zod';
import { jsonObjectSchema, nameSchema, sessionKeySchema } from '#domain/schema/scalars.ts';

export const EXPLAIN_KINDS = ['tool', 'shell', 'path', 'url', 'scrub'] as const;
export type ExplainKind = (typeof EXPLAIN_KINDS)[number];

/** Characters; long enough for any real command or output. */
const MAX_TEXT = 1_048_576;
const name = z.string().min(1).max(256);
const names = z.array(name).max(1000);
const text = z.string().max(MAX_TEXT);

/** Returned with the answer, so that the results of a list can be matched. Unknown fields are ignored. */
const id = z.union([z.string().max(256), z.number()]).optional();

/** An agent's key, or its settings. */
const agent = z.union([name, jsonObjectSchema]);

const dnsAnswer = z.union([z.string().max(100), z.array(z.string().max(100)).max(100)]);

export const explainToolSchema = z
  .object({
    id,
    tool: name.optional().describe('Absent: all tools'),
    args: jsonObjectSchema.optional().describe('Then rules on calls and commands are asked, too'),
    agent: agent.optional(),
    config: jsonObjectSchema.optional().describe('Settings in place of the ones in force'),
    context: z
      .object({
        agent: name.optional(),
        user: name.optional(),
        channel: name.optional(),
        provider: name.optional(),
        allowed_tools: names.optional(),
        group: names.optional(),
        within: names.optional(),
        subagent: z
          .union([
            z.boolean(),
            z.strictObject({ depth: z.int().min(1).max(100).default(1), leaf: z.boolean().default(false) }),
          ])
          .optional(),
        leaf: z.boolean().optional(),
        session: sessionKeySchema
          .optional()
          .describe('Rules that look back see what this session has read; not on the command line'),
        skills: z
          .array(
            z.strictObject({
              name,
              allowed_tools: names.nullable().default(null),
              brings: z.boolean().default(true).describe('A person has agreed to it'),
            }),
          )
          .max(20)
          .optional()
          .describe('As if these were in use; else those in use in the turn of `session`'),
        used: names.optional().describe('In its place: tools whose results were read'),
      })
      .optional(),
  })
  .meta({ examples: [{ tool: 'exec', agent: 'main', context: { channel: 'slack' } }] });

export const explainShellSchema = z
  .object({
    id,
    command: text,
    agent: agent.optional(),
    config: jsonObjectSchema.optional(),
    categories: z
      .partialRecord(z.enum(SHELL_SWITCHES), z.boolean())
      .optional()
      .describe('Over those in force'),
    denied_paths: names.optional().describe('In place of those in force; `!` before one exempts it'),
  })
  .meta({ examples: [{ command: 'git push origin main', agent: 'main' }] });

export const explainPathSchema = z
  .object({
    id,
    path: z.string().max(8192),
    op: z.string().max(40).default('read'),
    agent: name.optional(),
    workspace: z.string().max(4096).optional().describe('A folder; on the command line only'),
    denied_prefixes: names.optional(),
    restrict: z.boolean().optional(),
  })
  .meta({ examples: [{ path: '../secret.txt', op: 'read', agent: 'main' }] });

export const explainUrlSchema = z
  .object({
    id,
    url: z.string().max(65_536),
    agent: nameSchema.optional().describe('Whose rules hold; main unless given'),
    dns: z
      .union([z.record(z.string().max(300), dnsAnswer), z.array(z.string().max(100)).max(100)])
      .optional()
      .describe('In place of a resolver'),
    dns_sequence: z
      .union([z.array(dnsAnswer).max(100), z.record(z.string().max(300), z.array(dnsAnswer).max(100))])
      .optional()
      .describe('Answers one after the other: each must pass'),
    redirects: z.array(z.string().max(8192)).max(50).optional().describe('Where answers lead, in order'),
    policy: z.enum(['allow_all', 'allowlist']).optional(),
    allowed_domains: names.optional(),
    blocked_domains: names.optional(),
    internal_hosts: names.optional(),
    allow_private: z.boolean().optional(),
    allowed_ports: z.array(z.int().min(1).max(65_535)).max(1000).optional(),
  })
  .meta({ examples: [{ url: 'http://2130706433/' }] });

export const explainScrubSchema = z
  .object({
    id,
    text,
    registered: z
      .array(
        z.union([
          z.string().max(65_536),
          z.strictObject({ value: z.string().max(65_536), kind: z.enum(['credential', 'server_ip']) }),
        ]),
      )
      .max(100)
      .optional()
      .describe('Values known to be secret'),
  })
  .meta({ examples: [{ text: 'password=hunter2hunter2' }] });

export const EXPLAIN_INPUTS = {
  tool: explainToolSchema,
  shell: explainShellSchema,
  path: explainPathSchema,
  url: explainUrlSchema,
  scrub: explainScrubSchema,
} as const satisfies Record<ExplainKind, z.ZodType>;

const decision = z.enum(['allow', 'ask', 'deny']);
const remedy = z.string().optional().describe('What would change the decision');

export const explainAnswerSchema = z
  .object({
    id,
    decision: decision.optional(),
    step: z.string().optional(),
    rule: z.string().nullable().optional(),
    reason: z.string().optional(),
    remedy,
    known: z.boolean().optional(),
    terms: jsonObjectSchema.optional(),
    hooks: z
      .array(z.string())
      .optional()
      .describe('Asked before it runs; they may still deny it, ask or change it'),
    tools: z.array(z.string()).optional(),
    decisions: z
      .array(z.object({ tool: z.string(), decision, step: z.string(), rule: z.string().nullable() }))
      .optional(),
    category: z.string().nullable().optional(),
    always: z.string().optional().describe('What “approve always” would allow'),
    command_words: z.array(z.array(z.string())).optional(),
    resolved: z.string().optional(),
    code: z.string().nullable().optional(),
    address: z.string().optional(),
    text: z.string().optional(),
    found: z.array(z.object({ kind: z.string(), count: z.int() })).optional(),
  })
  .describe('Which of the fields there are follows from the kind');
export type ExplainAnswer = z.infer<typeof explainAnswerSchema>;
