/** Agent links: which agents may delegate work to each other (DE-1). */
import { z } from 'zod';
import { LINK_DIRECTIONS, LINK_LIMITS, LINK_STATUSES } from '../assignment/agent-link.ts';
import { isMessageId } from '../ids.ts';
import { SCOPES } from '../schema/api-key.ts';
import {
  idSchema,
  jsonObjectSchema,
  labelSchema,
  nameSchema,
  textSchema,
  timeSchema,
} from '../schema/scalars.ts';
import { defineResource } from './define-resource.ts';

export const linkSettingsSchema = z
  .strictObject({
    user_allow: z.array(labelSchema).max(LINK_LIMITS.users).optional(),
    user_deny: z.array(labelSchema).max(LINK_LIMITS.users).optional(),
    require_role: z.enum(SCOPES).optional().describe('A scope that the API key behind the turn must have'),
  })
  .describe(
    'Deny wins over allow; with an allow list nobody else may use the link, and with an empty one nobody',
  );

const fields = {
  direction: z.enum(LINK_DIRECTIONS),
  status: z.enum(LINK_STATUSES),
  max_concurrent: z
    .int()
    .min(0)
    .max(LINK_LIMITS.concurrent)
    .describe('Delegations over the link at once; 0: as many as the target takes'),
  settings: linkSettingsSchema,
  description: textSchema(LINK_LIMITS.description),
};

const createSchema = z
  .strictObject({
    source: nameSchema,
    target: nameSchema,
    direction: fields.direction.default('outbound'),
    status: fields.status.default('active'),
    max_concurrent: fields.max_concurrent.default(0),
    settings: linkSettingsSchema.default({}),
    description: fields.description.optional(),
  })
  .refine(({ source, target }) => source !== target, 'an agent has no link to itself')
  .meta({ examples: [{ source: 'lead', target: 'writer', direction: 'outbound', max_concurrent: 2 }] });

const changeSchema = z
  .strictObject({ ...fields, description: fields.description.nullable() })
  .partial()
  .meta({ examples: [{ status: 'disabled' }] });

const itemSchema = z.object({
  id: idSchema,
  source: nameSchema,
  target: nameSchema,
  ...fields,
  max_concurrent: z.int(),
  settings: jsonObjectSchema,
  description: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: timeSchema,
  updated_at: timeSchema,
});

const flags = {
  direction: ['--direction <direction>', 'who may give work', { choices: LINK_DIRECTIONS }],
  status: ['--status <status>', '', { choices: LINK_STATUSES }],
  max_concurrent: ['--max-concurrent <number>', 'at once over the link; 0: as many as the target takes'],
  user_allow: ['--allow <user...>', 'only these users', { kind: 'texts' }],
  user_deny: ['--deny <user...>', 'not these users', { kind: 'texts' }],
  require_role: ['--role <scope>', 'only turns of keys with this scope', { choices: SCOPES }],
  description: ['--description <text>', 'what the link is for'],
} as const;

/** The flags of settings replace all settings. */
function bodyOf<Given extends z.input<typeof linkSettingsSchema>>({
  user_allow,
  user_deny,
  require_role,
  ...flags
}: Given) {
  const settings = { user_allow, user_deny, require_role };
  const isNamed = Object.values(settings).some((value) => value !== undefined);
  return { ...flags, settings: isNamed ? settings : undefined };
}

export const agentLinks = defineResource(
  {
    path: '/v1/agent-links',
    tag: 'agents',
    item: itemSchema,
    key: 'id',
    isKey: isMessageId,
    isDefinition: true,
    missing: 'There is no agent link with this id',
  },
  ({ list, show, create, change, remove }) => ({
    listAgentLinks: list({
      scope: 'read',
      summary: 'List the links between agents',
      query: { agent: nameSchema.optional().describe('Those that it is one end of') },
      command: {
        help: 'the links there are',
        flags: { agent: ['--agent <key>', 'those that it is one end of'] },
        columns: {
          link: 'id',
          source: 'source',
          target: 'target',
          direction: 'direction',
          status: 'status',
          'at once': (one) => one.max_concurrent || '-',
        },
        nothing: 'No links.',
      },
    }),
    getAgentLink: show({
      scope: 'read',
      summary: 'Get a link between two agents',
      command: {
        help: 'one link',
        fields: (link) => ({ ...link, settings: JSON.stringify(link.settings) }),
      },
    }),
    createAgentLink: create({
      scope: 'admin',
      summary: 'Let one agent give work to another',
      body: createSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'add',
        help: 'let one agent give work to another',
        arguments: ['source', 'target'],
        flags,
        sends: bodyOf,
        says: ({ id, source, target, direction, status }) =>
          `${id}: ${source} may give work to ${target} (${direction}, ${status})`,
      },
    }),
    updateAgentLink: change({
      scope: 'admin',
      summary: 'Change a link between two agents',
      description: 'Given fields replace the old ones whole. Work that goes over it already goes on.',
      body: changeSchema,
      command: {
        word: 'set',
        help: 'change a link; what is not given stays',
        flags,
        sends: bodyOf,
        says: ({ id, direction, status }) => `${id} is changed (${direction}, ${status})`,
      },
    }),
    deleteAgentLink: remove({
      scope: 'admin',
      summary: 'Delete a link between two agents',
      description: 'Work that goes over it already goes on.',
      command: { word: 'delete', help: 'delete a link', says: (id) => `${id} is deleted` },
    }),
  }),
);
