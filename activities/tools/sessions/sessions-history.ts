/** sessions_history: the transcript of a session, newest entries, oldest first. */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { isSessionKey } from '#domain/ids.ts';
import { toolError } from '#domain/tool.ts';

/** One message may be a page long; its own session has the rest. */
const MAX_ENTRY_CHARS = 4_000;
/** Less than the limit of every result, so that the newest entries are whole. */
const MAX_CHARS = 50_000;

const input = z.object({
  session_key: z.string().min(1).max(200).describe('Key of the session, as sessions_list gives it'),
  limit: z.int().min(1).max(100).default(20).describe('How many entries, the newest'),
  include_tools: z.boolean().default(false).describe('Also tool calls and their results'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'sessions'>>({
  name: 'sessions_history',
  description: 'Read the newest messages of a session, oldest first.',
  keywords:
    'transcript earlier messages other chat conversation log said read past talk talked discussed wrote replied last what we dialogue answered answer look up',
  group: 'sessions',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ session_key, limit }) => `${session_key}, newest ${limit}`,
  run: async ({ sessions }, { session_key, limit, include_tools }, call) => {
    const entries = isSessionKey(session_key)
      ? await sessions.history(call, session_key, { limit, includeTools: include_tools })
      : undefined;
    if (entries === undefined)
      return toolError(
        'NotFound',
        `there is no session "${session_key}"; sessions_list names those there are`,
      );
    await call.origins?.readSessions([session_key]);
    if (entries.length === 0) return { ok: true, text: '(nothing was said yet)' };
    const lines: string[] = [];
    let remaining = MAX_CHARS;
    for (const { role, text, created_at, tool: name } of entries.toReversed()) {
      const words = text.length > MAX_ENTRY_CHARS ? `${text.slice(0, MAX_ENTRY_CHARS)} [cut]` : text;
      const line = `[${created_at}] ${name === undefined ? role : `${role} ${name}`}: ${withoutHeads(words)}`;
      remaining -= line.length + 1;
      if (remaining < 0) {
        lines.push(`[${entries.length - lines.length} older entries left out; ask with a smaller limit]`);
        break;
      }
      lines.push(line);
    }
    return { ok: true, text: lines.toReversed().join('\n') };
  },
});

/** No line of a message begins as an entry does, so that none can pass for an entry of somebody else. */
function withoutHeads(text: string): string {
  return text.replaceAll(/(?<=[\n\r\u2028\u2029])\[/g, ' [');
}
