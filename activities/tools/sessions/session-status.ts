/** session_status: the state of a session; the caller's own by default. */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { isSessionKey } from '#domain/ids.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  session_key: textField(200, 'Key of the session; this one when left out').optional(),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'sessions'>>({
  name: 'session_status',
  description:
    'The state of a session: what it does, its agent, turns and usage. Without a key: of this session.',
  keywords:
    'tokens used cost context spent chat conversation statistics model how much many expensive price money budget spending cheap usage bill limit long running busy idle',
  group: 'sessions',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ session_key }) => session_key ?? 'this session',
  run: async ({ sessions }, { session_key }, call) => {
    const key = session_key === undefined || session_key === '' ? call.sessionKey : session_key;
    const status = isSessionKey(key) ? await sessions.status(call, key) : undefined;
    if (status === undefined)
      return toolError('NotFound', `there is no session "${key}"; sessions_list names those there are`);
    if (key !== call.sessionKey) await call.origins?.readSessions([key]);
    const lines = Object.entries(status).map(
      ([name, value]) =>
        `${name}: ${name === 'title' && value !== null ? JSON.stringify(value) : (value ?? '-')}`,
    );
    return { ok: true, text: [`session: ${key}`, ...lines].join('\n') };
  },
});
