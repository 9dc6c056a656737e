/** Published skills: their versions, and who may use them. Commands that read a folder: features/skills/commands.ts. */
import { z } from 'zod';
import { labelSchema } from '#domain/schema/scalars.ts';
import {
  skillGrantSchema,
  skillNameSchema,
  skillPublishSchema,
  skillSchema,
  skillVersionSchema,
} from './schema.ts';
import { SKILL_LIMITS } from './rules/skill.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const path = '/v1/skills';
const named = z.object({ name: skillNameSchema });

const grant = {
  path: `${path}/:name/grants/:kind/:subject`,
  params: z.object({ name: skillNameSchema, kind: z.enum(['agent', 'user']), subject: labelSchema }),
  scope: 'admin',
  findsFirst: true,
} as const;

export const skills = defineResource(
  {
    path,
    tag: 'skills',
    item: skillSchema,
    key: 'name',
    keySchema: skillNameSchema,
    missing: 'There is no skill of this name, or no such grant on it',
  },
  (make) => ({
    listSkills: make.listAll({
      scope: 'read',
      summary: 'List published skills',
      description: 'Keys of a user see those that are public or granted to the user.',
      command: {
        help: 'the newest version of each',
        columns: [
          { title: 'skill', cell: (skill) => skill.name },
          { title: 'version', cell: (skill) => skill.version },
          { title: 'for', cell: (skill) => (skill.visibility === 'public' ? 'all' : 'grants') },
          { title: 'what it is for', cell: (skill) => skill.description, flexible: true },
          { title: 'published', cell: (skill) => skill.created_at, ago: true },
        ],
        nothing: 'No skills are published.',
      },
    }),
    getSkill: make.show({
      scope: 'read',
      summary: 'Get a published skill',
      command: {
        help: 'one, with its files and where it is from',
        fields: ({ files, ...skill }) => ({ ...skill, files: files.map((file) => file.path).join(', ') }),
      },
    }),
    publishSkill: make.put({
      scope: 'admin',
      summary: 'Publish a skill',
      description:
        'Makes a new version, unless the newest one has these files. `SKILL.md` must be as the open format has it, and named as the skill.',
      body: skillPublishSchema,
      answer: skillSchema.extend({ is_new: z.boolean() }),
      maxBytes: 2 * SKILL_LIMITS.bytes,
      refuses: ['Unprocessable', 'TooLarge'],
    }),
    listSkillVersions: operation({
      method: 'GET',
      path: `${path}/:name/versions`,
      scope: 'read',
      summary: 'List the versions of a skill, the newest first',
      params: named,
      answer: z.object({ data: z.array(skillVersionSchema) }),
      findsFirst: true,
    }),
    deleteSkill: make.remove({
      scope: 'admin',
      summary: 'Remove a skill',
      description:
        'No agent finds it from its next step on. Its versions are kept for who asks what was used.',
      command: { word: 'remove', help: 'remove one', says: (name) => `skill ${name} is removed` },
    }),
    listSkillGrants: operation({
      method: 'GET',
      path: `${path}/:name/grants`,
      scope: 'admin',
      summary: 'List who may use a private skill',
      params: named,
      answer: z.object({ data: z.array(skillGrantSchema) }),
      findsFirst: true,
    }),
    grantSkill: operation({
      ...grant,
      method: 'PUT',
      summary: 'Let an agent or a user use a private skill',
      answer: skillGrantSchema,
      refuses: ['Unprocessable'],
    }),
    revokeSkill: operation({
      ...grant,
      method: 'DELETE',
      summary: 'Take a grant on a skill back',
      answer: z.null(),
      status: 204,
    }),
  }),
);
