/** sessions_list: the sessions of the caller's tenant, newest first. */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';

const input = z.object({
  limit: z.int().min(1).max(100).default(20).describe('How many to list'),
  active_minutes: z
    .number()
    .positive()
    .max(525_600)
    .optional()
    .describe('Only those that were active in the last so many minutes'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'sessions'>>({
  name: 'sessions_list',
  description: 'List sessions, those last active first.',
  keywords:
    'my open conversations chats active recent all show which chat history yesterday how many running overview threads recently',
  group: 'sessions',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ limit }) => `newest ${limit}`,
  run: async ({ sessions }, { limit, active_minutes }, call) => {
    const found = await sessions.list(call, {
      limit,
      activeMinutes: active_minutes,
    });
    if (found.length === 0) return { ok: true, text: '(no sessions)' };
    await call.origins?.readSessions(found.flatMap(({ key, isTitleOwn }) => (isTitleOwn ? [] : [key])));
    const lines = found.map(
      ({ key, agent, status, updated_at, turns, title }) =>
        `${key} agent=${agent} status=${status} turns=${turns} updated=${updated_at}${title === null ? '' : ` ${JSON.stringify(title)}`}`,
    );
    return { ok: true, text: lines.join('\n') };
  },
});
