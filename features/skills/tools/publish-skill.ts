/**
 * publish_skill: makes a folder of the workspace a version of a skill. The rules decide whether a person reviews it
 * first (PO-5).
 */
import { basename, normalize } from 'node:path';
import { z } from 'zod';
import type { Skills } from '../activities/skills.ts';
import { withFileProblems } from '#activities/workspace/file-problem.ts';
import { SKILL_FILE, SKILL_VISIBILITIES } from '../rules/skill.ts';
import { toolError } from '#domain/tool.ts';
import { defineTool } from '#policy/define-tool.ts';
import { readPublished } from '../policy/read-published.ts';

const input = z.object({
  path: z.string().min(1).max(4096).describe(`Folder with a ${SKILL_FILE}, such as skills/my-skill`),
  visibility: z
    .enum(SKILL_VISIBILITIES)
    .default('private')
    .describe('private: for your user (for you alone when there is none); public: for all agents'),
});

export const tool = defineTool<z.infer<typeof input>, { readonly skills: Skills }>({
  name: 'publish_skill',
  description:
    'Publish a skill that you have written in your workspace, as a new version where it is there. The same content again changes nothing.',
  keywords:
    'share upload release how-to guide make available others agents save publish register new version distribute colleagues team everyone reuse store',
  group: 'skills',
  replay: 'idempotent',
  input,
  limits: { duration: 'long', inline: true, timeoutSeconds: 60 },
  summary: ({ path, visibility }) => `${path}, ${visibility}`,
  serial: true,
  // The approved files are the published ones.
  runsFiles: ({ path }) => ({ paths: [`${String(path)}/${SKILL_FILE}`], open: null, tree: String(path) }),
  run: ({ skills }, { path, visibility }, call) =>
    withFileProblems(async () => {
      const files = await skills.readFolder(call, path);
      const read = readPublished(basename(normalize(path)), files, call.hasSecret);
      if (!read.ok) return toolError('InvalidArgs', read.problem);
      const { name } = read.skill;
      const known = await skills.find(call, name);
      if (known?.source === 'instance')
        return toolError('InvalidArgs', `${name} is a skill of this installation; choose another name`);
      const mine =
        call.user === null
          ? ({ kind: 'agent', subject: call.agent } as const)
          : ({ kind: 'user', subject: call.user } as const);
      const done = await skills.publish(call.tenant, {
        ...read.skill,
        visibility,
        files,
        by: `${mine.kind} ${mine.subject}${mine.kind === 'user' ? `, by agent ${call.agent}` : ''}`,
        call: { id: call.callId, ...mine },
      });
      if (done === 'theirs')
        return toolError('PermissionDenied', `another has published a skill ${name}; choose another name`);
      if (done === 'full')
        return toolError('RateLimited', 'there are as many skills, or versions of this one, as may be');
      const what = done.isNew ? 'is published as' : 'is what it was:';
      return {
        ok: true,
        text: `${name} ${what} version ${done.version} (${visibility}, ${files.length} files).`,
      };
    }),
});
