/**
 * Chat channels (IN-4): services whose messages an agent answers, which user each person there is, and what was sent to
 * them.
 */
import { z } from 'zod';
import type { Feature } from '#domain/feature.ts';
import { CHANNEL_TYPES } from './contract.ts';
import {
  channelChangeSchema,
  channelCreateSchema,
  channelPersonSchema,
  channelSchema,
  connectedSchema,
  pairingSchema,
} from './schema.ts';
import { nameSchema } from '#domain/schema/scalars.ts';
import { DELIVERIES, DELIVERY_STATUSES, deliverySchema, stateWords } from '#features/webhooks-out/schema.ts';
import type { Columns } from '#domain/resource/command.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const columns: Columns<z.output<typeof channelSchema>> = {
  channel: 'key',
  type: 'type',
  agent: 'agent',
  state: (row) => (row.enabled ? stateWords(row) : 'off'),
  inbound: { flexible: 'inbound' },
  created: { ago: 'created_at' },
};

const settings = [
  '--settings <json>',
  'such as {"token":"secret://TELEGRAM_TOKEN","secret_token":"secret://TELEGRAM_SECRET"}',
] as const;
const agent = ['--agent <key>'] as const;
const changed = {
  agent,
  settings,
  enabled: ['--enabled <yes-or-no>'],
} as const;
const paired = {
  user: ['--user <name>', '', { required: true }],
  may_decide: ['--may-decide <yes-or-no>', 'decides approvals by buttons'],
} as const;

const connecting = {
  scope: 'admin' as const,
  summary: 'Register a channel with its service',
  description:
    'As far as the service lets a bot do that: it is told where to call (below `api.publicUrl`) and what the bot understands. Safe to repeat.',
  body: z.strictObject({}),
  answer: connectedSchema,
  refuses: ['Unprocessable'] as const,
  command: {
    word: 'connect',
    help: 'register it with its service, and say what is missing',
    says: ({ account, done, todo }: z.output<typeof connectedSchema>) =>
      [
        `speaks as ${account ?? 'nobody yet'}`,
        ...done.map((line) => `done: ${line}`),
        ...todo.map((line) => `to do: ${line}`),
      ].join('\n'),
  },
};

const definition = {
  path: '/v1/channels',
  tag: 'channels',
  item: channelSchema,
  key: 'key',
  keySchema: nameSchema,
  missing: 'There is no channel with this key',
} as const;

/** Operations that are the same for each type. */
const ofAnyType = defineResource(
  definition,
  (make) => ({
    deleteChannel: make.remove({
      scope: 'admin',
      summary: 'Delete a channel with its people and deliveries',
      command: { word: 'delete', help: 'delete one; its sessions stay', says: (key) => `deleted ${key}` },
    }),
    connectChannel: make.action('connect')(connecting),
  }),
  (make) => ({
    pairChannelPerson: make.action('pairings')({
      scope: 'admin',
      summary: 'Let somebody speak as a user',
      description: 'By the code that he was told, which is good for an hour, or by the service’s id of him.',
      body: pairingSchema,
      answer: channelPersonSchema,
      refuses: ['Unprocessable'],
      command: {
        word: 'pair',
        help: 'let whoever was told the code speak as a user',
        arguments: ['code'],
        flags: paired,
        sends: ({ code, user = '', may_decide = false }) => ({ code, user, may_decide }),
        says: ({ name, user }) => `${name} speaks as ${user} from now on`,
      },
    }),
    listChannelPeople: make.listOf('people', channelPersonSchema, {
      scope: 'admin',
      summary: 'List who speaks in a channel as whom',
      command: {
        help: 'who speaks there as whom',
        columns: {
          person: 'person',
          name: { flexible: 'name' },
          user: 'user',
          decides: (one) => (one.may_decide ? 'yes' : 'no'),
          since: { ago: 'created_at' },
        },
        nothing: 'nobody is paired',
      },
    }),
    deleteChannelPerson: operation({
      method: 'DELETE',
      path: '/v1/channels/:key/people/:person',
      params: z.object({ key: nameSchema, person: z.string().max(150) }),
      scope: 'admin',
      summary: 'Let somebody no longer speak in a channel',
      answer: z.null(),
      status: 204,
      command: {
        word: 'unpair',
        help: 'let somebody no longer speak there',
        answer: ({ key, person }) => ({ key, person, deleted: true }),
        says: (_answer, { key, person }) => `${person} no longer speaks in ${key}`,
      },
    }),
    listChannelDeliveries: make.listOf('deliveries', deliverySchema, {
      scope: 'admin',
      summary: 'List what a channel is told, the newest first',
      query: { status: z.enum(DELIVERY_STATUSES).optional() },
      command: { help: 'what it was told, the newest first', ...DELIVERIES },
    }),
    redeliverChannel: make.action('redeliver')({
      scope: 'admin',
      summary: 'Tell a channel again what it could not be told',
      body: z.strictObject({}),
      answer: z.object({ redelivered: z.int() }),
      command: {
        word: 'redeliver',
        help: 'tell again what could not be told',
        says: ({ redelivered }) => `${redelivered} are told again`,
      },
    }),
  }),
);

/** With the types that these features add. */
export function channelsOf(features: readonly Pick<Feature, 'channelTypes'>[]) {
  const types = [...CHANNEL_TYPES, ...features.flatMap(({ channelTypes = {} }) => Object.keys(channelTypes))];
  const type = z.enum(types);
  return defineResource(
    { ...definition, item: channelSchema.extend({ type }) },
    (make) => ({
      listChannels: make.listAll({
        scope: 'admin',
        summary: 'List channels',
        command: { help: 'chat services that agents answer in', nothing: 'no channels', columns },
      }),
      getChannel: make.show({
        scope: 'admin',
        summary: 'Get a channel',
        command: { help: 'one channel' },
      }),
      createChannel: make.create({
        scope: 'admin',
        summary: 'Have an agent answer in a chat service',
        description:
          'What its type needs as credentials stands among `settings` too, as text or as `secret://NAME`: it is sealed and never shown again.',
        body: channelCreateSchema.extend({ type }),
        refuses: ['Conflict', 'Unprocessable'],
        command: {
          word: 'add',
          help: 'have an agent answer in a chat service',
          arguments: ['key'],
          flags: { type: ['--type <type>', '', { choices: types, required: true }], agent, settings },
          // Without its type, the command is refused earlier.
          sends: ({ type = 'web', ...flags }) => ({ type, ...flags }),
          says: ({ key, inbound }) => `${key} hears at ${inbound} below the public address; tell the service`,
        },
      }),
      updateChannel: make.change({
        scope: 'admin',
        summary: 'Change a channel',
        description: 'Chats that have begun stay with their agent.',
        body: channelChangeSchema,
        refuses: ['Conflict', 'Unprocessable'],
        command: {
          word: 'set',
          help: 'change one',
          flags: changed,
          says: ({ key, enabled }) => `${key} is ${enabled ? 'on' : 'off'}`,
        },
      }),
    }),
    () => ofAnyType.operations,
  );
}

/** With the types of this feature alone. */
export const channels = channelsOf([]);
