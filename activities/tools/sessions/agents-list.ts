/** agents_list: the agents of the caller's tenant. */
import { z } from 'zod';
import { defineTool } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';

const input = z.object({
  limit: z.int().min(1).max(200).default(50).describe('How many to list'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'sessions'>>({
  name: 'agents_list',
  description: 'List the agents there are, by key, with their names and models.',
  keywords:
    'which who bots assistants all available exist colleagues works here other others names overview models persona list',
  group: 'sessions',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ limit }) => `up to ${limit}`,
  run: async ({ sessions }, { limit }, call) => {
    const agents = await sessions.agents(call.tenant, limit);
    if (agents.length === 0) return { ok: true, text: '(no agents)' };
    const lines = agents.map(
      ({ key, name, model }) =>
        `${key}${key === call.agent ? ' (you)' : ''} model=${model}${name === null ? '' : ` ${JSON.stringify(name)}`}`,
    );
    return { ok: true, text: lines.join('\n') };
  },
});
