/** use_skill: returns the instructions of a skill, and adds its tools for the rest of the turn. */
import { z } from 'zod';
import type { Skills } from '../activities/skills.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { nearest } from '#domain/text/nearest-name.ts';
import { SKILL_LIMITS } from '../rules/skill.ts';
import { skillText } from '../rules/words.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool } from '#policy/define-tool.ts';

const MAX_PARAMS = 20_000;

const input = z.object({
  name: z.string().min(1).max(200).describe('Name of the skill'),
  params: z
    .record(z.string().max(200), z.unknown())
    .refine((params) => JSON.stringify(params).length <= MAX_PARAMS, `at most ${MAX_PARAMS} characters`)
    .optional()
    .describe('What the skill is to work with, repeated below its text'),
});

export const tool = defineTool<z.infer<typeof input>, { readonly skills: Skills }>({
  name: 'use_skill',
  description:
    'Read the instructions of a skill before you do the work that it is for. Where it names tools, you have those until the turn ends.',
  keywords:
    'load apply open follow guide how-to playbook recipe activate read learn start invoice brand report style use skill',
  group: 'skills',
  common: true,
  replay: 'idempotent',
  input,
  limits: { duration: 'long', inline: true, timeoutSeconds: 60 },
  summary: ({ name }) => name,
  run: ({ skills }, { name, params }, call) =>
    withFileProblems(async () => {
      const skill = await skills.find(call, name);
      if (!skill) {
        const near = nearest(
          name,
          (await skills.list(call)).map((known) => known.name),
        );
        const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
        return toolError('NotFound', `there is no skill ${JSON.stringify(name.slice(0, 64))} for you${hint}`);
      }
      const loaded = await skills.load(call, skill);
      if (typeof loaded === 'string') return toolError('ExecutionFailed', loaded);
      if (!(await skills.note(call, skill)))
        return toolError('RateLimited', `a turn may use ${SKILL_LIMITS.inUse} skills; go on in another turn`);
      return { ok: true, text: skillText(skill, loaded, params) };
    }),
});
