/** The knowledge graph of agents and their users, which people browse and correct. */
import { z } from 'zod';
import { KNOWLEDGE_LIMITS } from './contract.ts';
import {
  type Kept,
  labelSchema,
  nameSchema,
  readTimeSchema,
  textSchema,
  timeSchema,
} from '#domain/schema/scalars.ts';
import { defineResource } from '#domain/resource/define-resource.ts';

const idSchema = z.string().regex(/^\d{1,18}$/, 'must be the id of an entity');
const name = textSchema(KNOWLEDGE_LIMITS.name).refine((text) => text.trim() !== '', 'must not be blank');
const type = textSchema(KNOWLEDGE_LIMITS.type).refine((text) => text.trim() !== '', 'must not be blank');
const hidden = z
  .boolean()
  .meta({ description: 'Removed by somebody: it is not found, whatever documents say' });

const ownerShape = {
  id: z.string(),
  agent: z.string(),
  user: z.string().nullable().meta({ description: 'Null: the agent’s own, which all of its users find' }),
};

const outside = z.boolean().meta({ description: 'Said by a document that came from outside' });

const sourceSchema = z.object({
  path: z.string(),
  from: z.int().meta({ description: 'Lines of the document as it is now, from 1, both included' }),
  to: z.int(),
  revision: z.int().meta({ description: 'Of the document, when it was read' }),
});

export const knowledgeStatusSchema = z.object({
  pending: z.int().meta({ description: 'Documents that were not read for facts as they are; 0: all were' }),
  entities: z.int(),
  relations: z.int(),
});

/** The status as callers see it (`GET …/knowledge/status`). */
export type KnowledgeStatus = Kept<typeof knowledgeStatusSchema>;

export const entitySchema = z.object({
  ...ownerShape,
  name: z.string(),
  type: z.string(),
  aliases: z.array(z.string()),
  hidden,
  outside,
  changed_by: z.string().nullable().meta({ description: 'Who corrected it last' }),
  sources: z.array(sourceSchema).meta({ description: 'The newest ones of those that name it' }),
  merged: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .meta({ description: 'Entities that were merged into it, which `split` takes back' }),
  updated_at: timeSchema,
});

const endSchema = z.object({ id: z.string(), name: z.string() });

export const relationSchema = z.object({
  ...ownerShape,
  from: endSchema,
  relation: z.string(),
  to: endSchema,
  valid_from: timeSchema,
  valid_to: timeSchema.nullable().meta({ description: 'Its own end, or when a later one took its place' }),
  single: z.boolean().meta({ description: 'A later one of the same entity and kind takes its place' }),
  hidden,
  outside,
  source: sourceSchema.nullable(),
  author: z.string().nullable().meta({ description: 'Who says it, where no document does' }),
});

const owner = { agent: nameSchema.optional(), user: labelSchema.optional() };
const ownerFlags = {
  agent: ['--agent <key>', 'of this agent'],
  user: ['--user <id>', 'of this user; without it of all'],
} as const;
const isHidden = ['--hidden <yes|no>', 'remove it, or take that back'] as const;
const whose = 'The agent’s own need the scope `admin`.';

export const entityChangeSchema = z.strictObject({
  name: name.optional(),
  type: type.optional(),
  aliases: z.array(name).max(20).optional().meta({ description: 'In place of those that it has' }),
  hidden: hidden.optional(),
});

export const relationChangeSchema = z.strictObject({
  relation: type.optional(),
  valid_from: readTimeSchema.optional(),
  valid_to: readTimeSchema.nullable().optional(),
  single: z.boolean().optional(),
  hidden: hidden.optional(),
});

export const knowledgeEntities = defineResource(
  {
    path: '/v1/knowledge/entities',
    tag: 'agents',
    item: entitySchema,
    key: 'id',
    isKey: (value) => idSchema.safeParse(value).success,
    missing: 'There is no entity with this id',
    named: true,
  },
  ({ list, show, change, remove, action }) => ({
    listKnowledgeEntities: list({
      scope: 'read',
      summary: 'List entities that memory names',
      description: 'Removed ones as well. A key of a user sees its user’s and those of agents.',
      query: {
        ...owner,
        name: labelSchema.optional().meta({ description: 'One of its names, in any letter case' }),
      },
      command: {
        help: 'people, places and things that memory names',
        flags: { ...ownerFlags, name: ['--name <text>', 'with this name or alias'] },
        columns: {
          id: 'id',
          agent: 'agent',
          user: (entity) => entity.user ?? '(all)',
          name: { flexible: 'name' },
          type: 'type',
          removed: (entity) => (entity.hidden ? 'yes' : ''),
        },
        nothing: 'There are no entities.',
      },
    }),
    getKnowledgeEntity: show({
      scope: 'read',
      summary: 'Get an entity',
      command: { help: 'one, with its aliases and where it is named' },
    }),
    changeKnowledgeEntity: change({
      scope: 'run',
      summary: 'Correct an entity',
      description: `Holds whatever documents say, as long as one names it. ${whose}`,
      body: entityChangeSchema,
      refuses: ['Conflict'],
      command: {
        word: 'set',
        help: 'correct one',
        flags: {
          name: ['--name <text>', 'the name to show'],
          type: ['--type <word>', 'person, place, …'],
          aliases: ['--aliases <names>', 'in place of those it has'],
          hidden: isHidden,
        },
        says: (entity) => `${entity.id} is ${entity.name} (${entity.type})`,
      },
    }),
    mergeKnowledgeEntity: action('merge')({
      scope: 'run',
      summary: 'Say that an entity is another one',
      description: `Its names and relations become the other’s. ${whose}`,
      body: z.strictObject({ into: idSchema.meta({ description: 'Of the same agent and user' }) }),
      refuses: ['Unprocessable'],
      command: {
        word: 'merge',
        help: 'say that one is another, which stays',
        arguments: ['into'],
        ids: ['into'],
        says: (entity) => `both are ${entity.id} now, ${entity.name}`,
      },
    }),
    splitKnowledgeEntity: action('split')({
      scope: 'run',
      summary: 'Take back that another entity is this one',
      description: `That one is there again by its id, with its names and relations. What documents have said of the two since is read again. ${whose}`,
      body: z.strictObject({ entity: idSchema.meta({ description: 'One of `merged`' }) }),
      refuses: ['Unprocessable'],
      command: {
        word: 'split',
        help: 'take a merge back: ENTITY is another one again',
        arguments: ['entity'],
        says: (entity) => `${entity.id} is ${entity.name} again`,
      },
    }),
    removeKnowledgeEntity: remove({
      scope: 'run',
      summary: 'Remove an entity, with all that is said of it',
      description: `It stays removed as long as documents name it. ${whose}`,
      command: { word: 'remove', help: 'remove one', says: (id) => `${id} is removed` },
    }),
  }),
);

export const knowledgeRelations = defineResource(
  {
    path: '/v1/knowledge/relations',
    tag: 'agents',
    item: relationSchema,
    key: 'id',
    isKey: (value) => idSchema.safeParse(value).success,
    missing: 'There is no relation with this id',
  },
  ({ list, show, change, remove }) => ({
    listKnowledgeRelations: list({
      scope: 'read',
      summary: 'List what memory says of entities, past relations and removed ones as well',
      description: 'A key of a user sees its user’s and those of agents.',
      query: { ...owner, entity: idSchema.optional().meta({ description: 'At either end' }) },
      command: {
        help: 'how entities relate, by document',
        flags: { ...ownerFlags, entity: ['--entity <id>', 'at either end'] },
        columns: {
          id: 'id',
          from: { flexible: (one) => one.from.name },
          relation: 'relation',
          to: { flexible: (one) => one.to.name },
          until: (one) => one.valid_to?.slice(0, 10) ?? '',
          source: ({ source, author }) => (source ? `${source.path}:${source.from}` : author),
          removed: (one) => (one.hidden ? 'yes' : ''),
        },
        nothing: 'There are no relations.',
      },
    }),
    getKnowledgeRelation: show({
      scope: 'read',
      summary: 'Get a relation',
      command: { help: 'one, with its time and source' },
    }),
    changeKnowledgeRelation: change({
      scope: 'run',
      summary: 'Correct a relation',
      description: `Makes it the caller’s own statement, which holds whatever documents say of the same. ${whose}`,
      body: relationChangeSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'set',
        help: 'correct one; the answer is your own statement',
        flags: {
          relation: ['--relation <word>', 'works_at, lives_in, …'],
          valid_from: ['--from <time>', 'ISO 8601'],
          valid_to: ['--until <time>', 'ISO 8601'],
          hidden: isHidden,
        },
        says: (one) => `${one.id}: ${one.from.name} ${one.relation} ${one.to.name}`,
      },
    }),
    removeKnowledgeRelation: remove({
      scope: 'run',
      summary: 'Say that a relation is not so',
      description: `Whatever documents say of the same. ${whose}`,
      command: { word: 'remove', help: 'say that one is not so', says: (id) => `${id} is removed` },
    }),
  }),
);
