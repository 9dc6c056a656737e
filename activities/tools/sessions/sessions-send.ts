/** sessions_send: sends a message to another session of the same agent and user, which answers in a turn of its own. */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { isSessionKey } from '#domain/ids.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  message: z.string().min(1).max(100_000).describe('What to say there'),
  session_key: textField(200, 'Key of the session, as sessions_list gives it').min(1).optional(),
  label: textField(200, 'In place of the key: the title of the session, or a part of it').min(1).optional(),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'sessions' | 'sendToSession'>>({
  name: 'sessions_send',
  description:
    'Send a message to another of your sessions. It is answered there, in a turn of its own; the answer does not come back here.',
  keywords:
    'tell note forward other conversation chat write drop post say something another own chats steer continue elsewhere relay',
  group: 'sessions',
  // The message's id derives from the call, so that it is sent once.
  replay: 'idempotent',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ session_key, label }) => session_key ?? label ?? '',
  run: async ({ sessions, sendToSession }, { message, session_key, label }, call) => {
    if (session_key === undefined && label === undefined)
      return toolError('InvalidArgs', 'session_key or label is required');
    if (message.trim() === '' || message.includes('\0'))
      return toolError('InvalidArgs', 'message must be text that is not empty');
    const required = session_key ?? label ?? '';
    const none = toolError(
      'NotFound',
      `there is no session "${required}" of yours; sessions_list names those there are`,
    );
    if (session_key !== undefined && !isSessionKey(session_key)) return none;
    const found = await sessions.addressees(call.tenant, {
      agent: call.agent,
      user: call.user,
      ...(session_key === undefined ? { label: required } : { key: session_key }),
    });
    const others = found.filter((key) => key !== call.sessionKey);
    if (found.length > 0 && others.length === 0)
      return toolError('InvalidArgs', 'that is this session; say it in your answer');
    const [key] = others;
    if (key === undefined) return none;
    if (others.length > 1)
      return toolError(
        'InvalidArgs',
        `"${required}" fits several sessions: ${others.join(', ')}. Give the session_key`,
      );
    const { turn_id, ahead } = await sendToSession(call, key, message);
    const when = ahead > 0 ? `after ${ahead} turn(s) that come first` : 'now';
    return { ok: true, text: `Sent to ${key}; it is answered there ${when} (turn ${turn_id}).` };
  },
});
