/** Conversations that agents have handed over: where their messages go, and how to end that (DE-5). */
import { z } from 'zod';
import { labelSchema, nameSchema, sessionKeySchema, timeSchema } from '#domain/schema/scalars.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const itemSchema = z.object({
  channel: z.string(),
  chat_id: z.string(),
  from: nameSchema,
  to: nameSchema,
  session_key: sessionKeySchema.describe('In which the new agent speaks with the chat'),
  reason: z.string(),
  is_open: z.boolean().describe('False when the agent was deleted: the route is not followed'),
  created_at: timeSchema,
});

export const handoffs = defineResource(
  {
    path: '/v1/handoffs',
    tag: 'delegations',
    item: itemSchema,
    key: 'chat_id',
    missing: 'This chat was not handed to another agent, or not with this session',
  },
  ({ list }) => ({
    listHandoffs: list({
      scope: 'read',
      summary: 'List the chats that were handed to another agent',
      command: {
        help: 'by channel and chat',
        columns: {
          channel: 'channel',
          chat: 'chat_id',
          from: 'from',
          to: 'to',
          reason: { flexible: 'reason' },
          since: { ago: 'created_at' },
        },
        nothing: 'No chat was handed on.',
      },
    }),
    // Two texts of any form identify a chat, so they are in the query.
    endHandoff: operation({
      method: 'DELETE',
      path: '/v1/handoffs',
      scope: 'run',
      summary: 'Bring a chat back to the agent that it had first',
      query: z.strictObject({
        channel: labelSchema,
        chat_id: labelSchema,
        session_key: sessionKeySchema
          .optional()
          .describe('Only while this session speaks with the chat: a repeat leaves a newer handoff as it is'),
      }),
      answer: z.null(),
      status: 204,
      refuses: ['NotFound'],
      command: {
        word: 'clear',
        help: 'bring a chat back to the agent that it had first',
        arguments: ['channel', 'chat'],
        flags: { session_key: ['--session <key>', 'only while this session speaks with the chat'] },
        sends: ({ channel, chat, session_key }) => ({ channel, chat_id: chat, session_key }),
        answer: ({ channel, chat }) => ({ channel, chat_id: chat, cleared: true }),
        says: (_answer, { channel, chat }) => `${chat} of ${channel} goes to its first agent again`,
      },
    }),
  }),
);
