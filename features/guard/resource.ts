/** Guarded calls: activities of other programs, which ask before they run one and record how it ended. */
import { z } from 'zod';
import { isMessageId } from '#domain/ids.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import {
  idSchema,
  jsonObjectSchema,
  nameSchema,
  sessionKeySchema,
  textSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

/** How the call may run after its worker was lost. */
export const GUARDED_REPLAYS = ['readonly', 'idempotent', 'once'] as const;
export const OUTCOMES = ['ok', 'failed', 'unknown', 'not_run'] as const;
export const DECISIONS = ['allowed', 'denied', 'answered', 'waiting'] as const;

/** Longest `wait` in seconds. */
const MAX_WAIT = 60;
/** Bytes of a request to begin a call. */
const MAX_BODY = 262_144;
/** Characters of an end's text. */
const MAX_TEXT = 8_192;
/** Temporal limits the ids of workflows to 1,000 bytes by default. */
const workflowText = textSchema(1_000);

/** Also a name by which rules mean it. */
const toolName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'must be 1 to 64 letters, digits or _, a letter first');

const callSchema = z.object({
  id: idSchema,
  tool: z.string(),
  args: jsonObjectSchema.describe('Secrets are masked'),
  summary: z.string(),
  replay: z.enum(GUARDED_REPLAYS),
  agent: nameSchema.describe('Whose rules judge it'),
  user: z.string().nullable(),
  namespace: z.string(),
  workflow_id: z.string(),
  run_id: z.string(),
  session_key: sessionKeySchema.describe('The session whose feed has its questions'),
  decision: z
    .enum(DECISIONS)
    .describe(
      '`waiting`: a person decides. `answered`: a person gave the result in its place, so it does not run',
    ),
  reason: z.string().nullable().describe('Why it is denied or asked about'),
  approval_id: idSchema.nullable(),
  outcome: z
    .enum(OUTCOMES)
    .nullable()
    .describe(
      'How it ended; null until its program has said so. `unknown`: its run was lost, and it may have taken effect',
    ),
  code: z.string().nullable(),
  text: z.string().nullable().describe('The result or the error, scrubbed and cut'),
  created_by: z.string(),
  created_at: timeSchema,
  ended_at: timeSchema.nullable(),
});

const decidedSchema = callSchema.extend({
  answer: z.string().nullable().describe('What the person answered in its place'),
  edited_args: jsonObjectSchema
    .nullable()
    .describe('The arguments with which it runs, when a person has changed them; secrets are not masked'),
});

const beginSchema = z
  .strictObject({
    tool: toolName,
    args: jsonObjectSchema.describe('Its arguments by name; at most 65,536 characters as JSON'),
    replay: z.enum(GUARDED_REPLAYS).default('once'),
    agent: nameSchema.optional().describe('Whose rules judge it; `main` when absent'),
    namespace: workflowText,
    workflow_id: workflowText,
    run_id: textSchema(100),
  })
  .meta({
    examples: [
      {
        tool: 'refund',
        args: { order: '4711', euros: 20 },
        replay: 'once',
        namespace: 'shop',
        workflow_id: 'order-4711',
        run_id: '0197a6d0-0000-7000-8000-000000000000',
      },
    ],
  });

const endSchema = z
  .strictObject({
    outcome: z.enum(OUTCOMES),
    code: z.string().max(100).optional().describe('The type of the failure'),
    text: z.string().max(MAX_TEXT).optional().describe('The result or the error; it is scrubbed'),
  })
  .meta({ examples: [{ outcome: 'ok', text: 'refunded' }] });

const waitQuery = z.strictObject({
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_WAIT)
    .default(0)
    .describe('Seconds that the answer may wait for a decision'),
});

const one = { path: '/v1/guarded-calls/:id', params: z.object({ id: idSchema }) };

export const guardedCalls = defineResource(
  {
    path: '/v1/guarded-calls',
    tag: 'policy',
    item: callSchema,
    key: 'id',
    isKey: isMessageId,
    missing: 'There is no guarded call with this id',
  },
  ({ list }) => ({
    listGuardedCalls: list({
      scope: 'read',
      summary: 'List guarded calls, newest first',
      query: {
        tool: toolName.optional(),
        agent: nameSchema.optional(),
        workflow_id: workflowText.optional(),
        outcome: z
          .enum([...OUTCOMES, 'none'])
          .optional()
          .describe('`none`: it has not ended'),
      },
      command: {
        help: 'the calls there were',
        flags: {
          tool: ['--tool <name>', 'of one tool'],
          agent: ['--agent <key>', 'judged by the rules of this agent'],
          workflow_id: ['--workflow <id>', 'of one workflow'],
          outcome: ['--outcome <outcome>', 'that ended so', { choices: [...OUTCOMES, 'none'] }],
        },
        columns: {
          id: 'id',
          call: { flexible: 'summary' },
          decision: 'decision',
          outcome: ({ outcome }) => outcome ?? '',
          workflow: 'workflow_id',
          begun: { ago: 'created_at' },
        },
        nothing: 'No guarded calls.',
      },
    }),
    getGuardedCall: operation({
      ...one,
      method: 'GET',
      scope: 'read',
      summary: 'Get a guarded call, and wait for its decision',
      query: waitQuery,
      answer: callSchema,
      command: { word: 'show', help: 'one call with its arguments and its end' },
    }),
    beginGuardedCall: operation({
      ...one,
      method: 'PUT',
      scope: 'run',
      summary: 'Ask whether an activity may run',
      description:
        'The rules of the agent judge it, and people are asked when a rule says so. The same request again has the same answer, also after the decision; another call with the id is a 409.',
      body: beginSchema,
      query: waitQuery,
      answer: decidedSchema,
      maxBytes: MAX_BODY,
      refuses: ['Conflict', 'Unprocessable'],
      command: { none: 'workers ask, by the package @tempoclaw/temporal' },
    }),
    endGuardedCall: operation({
      ...one,
      path: `${one.path}/outcome`,
      method: 'POST',
      scope: 'run',
      repeatable: true,
      summary: 'Record how a guarded call ended',
      description:
        'The first outcome stays. `not_run` withdraws the question to people. Any other outcome of a call that was not allowed is a 409.',
      body: endSchema,
      answer: callSchema,
      refuses: ['Conflict'],
      command: { none: 'workers ask, by the package @tempoclaw/temporal' },
    }),
  }),
);

/** Characters of a call's arguments as JSON. */
export const MAX_ARGUMENTS = 65_536;
