/** Messages and their outcomes. */
import { z } from 'zod';
import { ATTACHMENT_REF, MAX_ATTACHMENTS } from '../files/attachment.ts';
import { clientToolsSchema } from './client-tool.ts';
import { STOP_LEVELS, SUBMIT_MODES, TURN_STATUSES } from '../turn/turn.ts';
import {
  idSchema,
  jsonObjectSchema,
  labelSchema,
  nameSchema,
  sessionKeySchema,
  textSchema,
  wordsSchema,
  timeSchema,
} from './scalars.ts';

/** The API's messages are written to rows, so they may be longer than what other clients send through history. */
export const MAX_MESSAGE = 262_144;
/** Providers refuse a message of blanks, so its turn could only fail. */
const messageText = wordsSchema(MAX_MESSAGE);
const allowedTools = z.array(z.string().regex(/^[A-Za-z0-9_*?:.-]{1,128}$/)).max(500);

export const messageCreateSchema = z
  .strictObject({
    text: messageText,
    agent: nameSchema.optional().describe('Who answers: `main` unless the session has an agent'),
    mode: z.enum(SUBMIT_MODES).optional().describe('What happens when a turn runs: `queue`'),
    attachments: z
      .array(z.string().regex(ATTACHMENT_REF, 'must be an id that POST /v1/artifacts gives, or artifact:ID'))
      .max(MAX_ATTACHMENTS)
      .optional()
      .describe('Artifacts: images are shown to models that see, others named to its tools'),
    allowed_tools: allowedTools.optional().describe('Narrows the agent’s tools for this turn'),
    client_tools: clientToolsSchema
      .optional()
      .describe('Tools that you run: a call of one waits for your decision `respond` with its result'),
    channel: labelSchema.optional(),
    chat_id: labelSchema.optional(),
    user: labelSchema
      .optional()
      .describe('Whom the message is from; a key of a user can name only that user'),
  })
  .meta({
    examples: [{ text: 'What is in README.md?' }, { text: 'Only the first part, please', mode: 'steer' }],
  });

export const steerSchema = z
  .strictObject({
    text: messageText,
    turn_id: idSchema.optional().describe('Refused with StaleTurn when another turn runs'),
    channel: labelSchema.optional(),
    chat_id: labelSchema.optional(),
    user: labelSchema.optional(),
  })
  .meta({ examples: [{ text: 'Leave the tests alone' }] });

export const stopSchema = z
  .strictObject({
    level: z
      .enum(STOP_LEVELS)
      .default('now')
      .describe(
        '`step`: after this step; `now`: at once; `all`: at once, what waits is dropped, and background commands end',
      ),
    turn_id: idSchema.optional().describe('The turn that is meant: the running one unless given'),
    reason: textSchema(500).optional(),
  })
  .meta({ examples: [{ level: 'now' }] });

export const stopReceiptSchema = z.object({
  session_key: sessionKeySchema,
  turn_id: idSchema.nullable().describe('Null when no turn ran: what the session had left running is ended'),
  level: z.enum(STOP_LEVELS),
});

/** `status` and `text` are present when the caller waited. */
export const messageReceiptSchema = z
  .object({
    session_key: sessionKeySchema,
    turn_id: idSchema,
    message_id: idSchema,
    workflow_id: z.string(),
    ahead: z.int().describe('Turns that must end before this one starts'),
    mode: z.enum(SUBMIT_MODES).optional(),
    step: z.int().optional().describe('For a message that steers: the step whose model call reads it'),
    duplicate: z.literal(true).optional(),
    status: z.enum(TURN_STATUSES).optional(),
    text: z.string().nullable().optional(),
    error: z.object({ code: z.string(), message: z.string() }).nullable().optional(),
  })
  .meta({
    examples: [
      {
        session_key: 'demo',
        turn_id: 'turn_5b1f',
        message_id: 'msg_5b1f',
        workflow_id: 'session/default/demo',
        ahead: 0,
      },
    ],
  });

export const messageSchema = z.object({
  id: idSchema,
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  turn_id: idSchema.nullable(),
  step: z.int().nullable(),
  position: z.int(),
  calls: z
    .array(z.object({ id: z.string().optional(), tool: z.string(), args: jsonObjectSchema }))
    .nullable()
    .describe('The tool calls that an answer asked for'),
  model: z.string().nullable(),
  created_at: timeSchema,
});

/** A waiting caller occupies a connection, so the wait is limited. */
const MAX_WAIT_SECONDS = 300;

export const waitSchema = z.coerce
  .number()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .describe('Seconds to wait for the end of the turn');
