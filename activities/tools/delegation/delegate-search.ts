/** delegate_search: which linked agents are best for a task (DE-3). */
import { z } from 'zod';
import { defineTool, textField } from '#policy/define-tool.ts';
import type { ToolDeps } from '#activities/tool-call/tool-deps.ts';
import { toolError } from '#domain/tool.ts';

const input = z.object({
  query: textField(2_000, 'What the agent should be good at, in a few words').optional(),
  max_results: z.int().min(1).max(20).default(5).describe('How many to name at most'),
});

export const tool = defineTool<z.infer<typeof input>, Pick<ToolDeps, 'agentLinks'>>({
  name: 'delegate_search',
  description:
    'Find agents that you can delegate to by what they are good at. Use it before delegate when you do not know whom to ask.',
  keywords:
    'who which colleague specialist expert knows skilled good capable suitable partner somebody experts lawyer designer best person for topic recommend knowledge department agent could bookkeeping law tax translation research one',
  group: 'delegation',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ query }) => query ?? '',
  run: async ({ agentLinks }, { query, max_results }, call) => {
    const required = query?.replaceAll('\0', '').trim() ?? '';
    if (required === '') return toolError('InvalidArgs', 'query is required');
    const found = await agentLinks.search(call, required, max_results);
    if (found.length === 0)
      return { ok: true, text: 'No linked agent matches. Try other words, or do it yourself.' };
    const lines = found.map(({ key, name, description, score }) => {
      const called = name && name !== key ? ` (${name})` : '';
      const about = description ? `: ${description.replace(/\s+/g, ' ')}` : '';
      return `- ${key}${called} score=${score.toFixed(2)}${about}`;
    });
    return { ok: true, text: `${lines.join('\n')}\n\nGive work to one with delegate (agent_key, task).` };
  },
});
