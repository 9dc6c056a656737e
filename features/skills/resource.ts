/** Published skills: their versions, and who may use them. Commands that read a folder: features/skills/commands.ts. */
import { z } from 'zod';
import { labelSchema } from '#domain/schema/scalars.ts';
import {
  skillFolderSchema,
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
        columns: {
          skill: 'name',
          version: 'version',
          for: (skill) => (skill.visibility === 'public' ? 'all' : 'grants'),
          'what it is for': { flexible: 'description' },
          published: { ago: 'created_at' },
        },
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
      refuses: ['Conflict', 'Unprocessable', 'TooLarge'],
      command: { by: 'skills publish' },
    }),
    readSkillFolder: operation({
      method: 'GET',
      path: `${path}/:name/files`,
      scope: 'read',
      summary: 'Read the folder of a skill',
      description: 'The newest version, as publishing takes it.',
      params: named,
      answer: skillFolderSchema,
      findsFirst: true,
      command: { none: 'for pages that edit a skill; agents get its files with use_skill' },
    }),
    listSkillVersions: operation({
      method: 'GET',
      path: `${path}/:name/versions`,
      scope: 'read',
      summary: 'List the versions of a skill, the newest first',
      params: named,
      answer: z.object({ data: z.array(skillVersionSchema) }),
      findsFirst: true,
      command: {
        word: 'versions',
        help: 'the versions of one, the newest first',
        columns: {
          version: 'version',
          sha256: ({ sha256 }) => sha256.slice(0, 12),
          'published by': { flexible: 'published_by' },
          published: { ago: 'created_at' },
        },
        nothing: 'There is no version of it.',
      },
    }),
    deleteSkill: make.remove({
      scope: 'admin',
      summary: 'Remove a skill',
      description:
        'No agent finds it from its next step on. Its versions are kept for who asks what was used.',
      command: { word: 'remove', help: 'remove one', says: (name) => `skill ${name} is removed` },
    }),
  }),
  () => ({
    listSkillGrants: operation({
      method: 'GET',
      path: `${path}/:name/grants`,
      scope: 'admin',
      summary: 'List who may use a private skill',
      params: named,
      answer: z.object({ data: z.array(skillGrantSchema) }),
      findsFirst: true,
      command: {
        word: 'grants',
        help: 'who may use a private one',
        columns: {
          for: ({ kind, subject }) => `${kind} ${subject}`,
          'granted by': { flexible: 'granted_by' },
        },
        nothing: 'There is no grant on it.',
      },
    }),
    grantSkill: operation({
      ...grant,
      method: 'PUT',
      summary: 'Let an agent or a user use a private skill',
      answer: skillGrantSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'grant',
        help: 'let an agent or a user use a private one; KIND is agent or user',
        says: ({ kind, subject }, { name }) => `${kind} ${subject} may use ${name}`,
      },
    }),
    revokeSkill: operation({
      ...grant,
      method: 'DELETE',
      summary: 'Take a grant on a skill back',
      answer: z.null(),
      status: 204,
      command: {
        word: 'revoke',
        help: 'take a grant back',
        answer: ({ kind, subject }) => ({ kind, subject, deleted: true }),
        says: (_answer, { name, kind, subject }) =>
          `the grant of ${kind} ${subject} on ${name} is taken back`,
      },
    }),
  }),
);
