/** DU-6: forks of sessions. */
import { z } from 'zod';
import { defineResource, operation } from '#domain/resource/define-resource.ts';
import { MAX_MESSAGE, waitSchema } from '#domain/schema/message.ts';
import {
  idSchema,
  jsonObjectSchema,
  nameSchema,
  pageSchema,
  pageQuery,
  sessionKeySchema,
  textSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';

const DEFAULT_WAIT_SECONDS = 60;
const MAX_CALLS = 64;
const MAX_STEP = 10_000;
/** Bytes of a request: an answer with its calls. */
const MAX_BYTES = 2 * 1024 * 1024;

const text = z.string().max(MAX_MESSAGE);

const copiedSchema = z.object({
  turns: z.int().describe('Whole ones'),
  calls: z.int(),
  files: z.int().describe('Files, folders and links of the workspace'),
  bytes: z.int(),
  put_back: z.int().describe('Files that are in the copy as they were at the step'),
  not_put_back: z
    .array(z.object({ call_id: z.string(), tool: z.string(), summary: z.string(), reason: z.string() }))
    .describe('Calls after the step whose changes of the workspace are in the copy; the first 100'),
  not_put_back_total: z.int(),
});

export const forkSchema = z.object({
  session_key: sessionKeySchema.describe('The session of the fork'),
  agent: nameSchema,
  status: z.enum(['open', 'done', 'failed']).describe('`open`: it is being made; `failed`: there is none'),
  forked_from: z.object({
    session: sessionKeySchema,
    turn_id: idSchema,
    step: z.int().nullable().describe('The first step that was not copied; null for the end of the turn'),
  }),
  turn_id: idSchema.nullable().describe('The turn that goes on; null for a copy that waits for a message'),
  copied: copiedSchema.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  created_at: timeSchema,
});

export const forkCreateSchema = z
  .strictObject({
    turn_id: idSchema.optional().describe('Of the session; its last turn unless given'),
    step: z
      .int()
      .min(1)
      .max(MAX_STEP)
      .optional()
      .describe('The first step that is not copied, and is done anew; without it all of the turn is copied'),
    answer: z
      .strictObject({
        text,
        calls: z
          .array(z.strictObject({ tool: z.string().min(1).max(200), args: jsonObjectSchema }))
          .max(MAX_CALLS)
          .default([])
          .describe('Run in their order, under the rules and approvals that apply'),
      })
      .optional()
      .describe('The answer of the step, in place of a model’s'),
    call: z
      .strictObject({ id: z.string().min(1).max(200), args: jsonObjectSchema })
      .optional()
      .describe('A call whose step is done anew with these arguments; the other calls of the step run too'),
    agent: nameSchema
      .optional()
      .describe('Who goes on; another agent than the session’s needs the scope admin'),
    message: textSchema(MAX_MESSAGE)
      .optional()
      .describe(
        'Without a step a new message; at step 1 in place of the turn’s own; at a later step read with it',
      ),
    key: sessionKeySchema
      .optional()
      .describe('Of the new session; the same request with the same key is one fork'),
  })
  .meta({ examples: [{ step: 2 }] });

export const forks = defineResource(
  {
    path: '/v1/sessions',
    tag: 'sessions',
    item: forkSchema,
    key: 'key',
    keySchema: sessionKeySchema,
    missing: 'There is no session with this key',
  },
  () => ({
    createFork: operation({
      method: 'POST',
      path: '/v1/sessions/:key/forks',
      params: z.object({ key: sessionKeySchema }),
      scope: 'run',
      repeatable: true,
      maxBytes: MAX_BYTES,
      summary: 'Fork a session at any of its steps',
      description:
        'A new session has the transcript up to the step, a workspace of its own with the files as they were then, and goes on live. The original stays as it is, and nothing of it runs again. 202 while it is still being made: repeat the request.',
      query: z.strictObject({ wait: waitSchema.default(DEFAULT_WAIT_SECONDS) }),
      body: forkCreateSchema,
      answer: forkSchema,
      status: 201,
      mayGoOn: true,
      refuses: ['Conflict', 'Unprocessable', 'TooLarge'],
      command: { by: 'fork' },
    }),
    listForks: operation({
      method: 'GET',
      path: '/v1/sessions/:key/forks',
      params: z.object({ key: sessionKeySchema }),
      scope: 'read',
      summary: 'List the forks of a session, newest first',
      query: z.strictObject(pageQuery),
      answer: pageSchema(forkSchema),
      command: { by: 'fork' },
    }),
  }),
);
