/** skill_search: finds which of the existing skills fits the work. */
import { z } from 'zod';
import type { Skills } from '../activities/skills.ts';
import { skillLine } from '../rules/words.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool } from '#policy/define-tool.ts';

const input = z.object({
  query: z.string().max(2_000).describe('The work that a skill is wanted for, in a few words'),
  max_results: z.number().int().min(1).max(20).default(5).describe('How many to name at most'),
});

export const tool = defineTool<z.infer<typeof input>, { readonly skills: Skills }>({
  name: 'skill_search',
  description: 'Find skills, which are instructions for kinds of work, by what they are for.',
  keywords:
    'guide how-to howto recipe manual procedure playbook template know-how instruction exists best practice checklist standard way instructions knowledge which skill do we have normally usually how write notes process workflow',
  group: 'knowledge',
  replay: 'readonly',
  input,
  limits: { duration: 'short', timeoutSeconds: 10 },
  summary: ({ query }) => query,
  run: async ({ skills }, { query, max_results }, call) => {
    const required = query.replaceAll('\0', '').trim();
    if (required === '') return toolError('InvalidArgs', 'query is required');
    const found = await skills.search(call, required, max_results);
    if (found.length === 0) return { ok: true, text: 'No skill is for that. Do the work without one.' };
    const lines = found.map((skill) => `- ${skillLine(skill)} (score ${skill.score.toFixed(2)})`);
    return { ok: true, text: `${lines.join('\n')}\n\nRead one with use_skill (name).` };
  },
});
