/** Outgoing webhooks (IN-4): where events are sent, and what became of each. */
import { z } from 'zod';
import {
  DELIVERIES,
  DELIVERY_STATUSES,
  deliverySchema,
  notifyTestCreateSchema,
  notifyTestSchema,
  stateWords,
  webhookChangeSchema,
  webhookCreateSchema,
  webhookRotationSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from './schema.ts';
import { idSchema } from '#domain/schema/scalars.ts';
import type { Columns } from '#domain/resource/command.ts';
import { defineResource, operation } from '#domain/resource/define-resource.ts';

const columns: Columns<z.output<typeof webhookSchema>> = {
  id: 'id',
  url: { flexible: 'url' },
  events: { flexible: (row) => row.events.join(' ') },
  state: (row) => (row.enabled ? stateWords(row) : (row.disabled_reason ?? 'off')),
  created: { ago: 'created_at' },
};

const flags = {
  events: ['--events <kinds>', 'such as approval.*,turn.completed'],
  agent: ['--agent <key>', 'only of this agent'],
  session: ['--session <key>', 'only of this session'],
  user: ['--user <id>', 'who decides by the links of its mails; the address unless given'],
  ordered: ['--ordered <yes-or-no>', 'one after the other in a session'],
} as const;

const changes = {
  url: ['--url <url>'],
  events: flags.events,
  enabled: ['--enabled <yes-or-no>'],
} as const;

const one = { params: z.object({ id: z.uuid(), delivery: idSchema }) };

export const webhooks = defineResource(
  {
    path: '/v1/webhooks',
    tag: 'webhooks',
    item: webhookSchema,
    key: 'id',
    keySchema: z.uuid(),
    isDefinition: { except: ['secret'] },
    missing: 'There is no webhook with this id',
  },
  (make) => ({
    listWebhooks: make.listAll({
      scope: 'admin',
      summary: 'List webhooks',
      command: { help: 'where events are sent to', nothing: 'no webhooks', columns },
    }),
    getWebhook: make.show({ scope: 'admin', summary: 'Get a webhook', command: { help: 'one webhook' } }),
    createWebhook: make.create({
      scope: 'admin',
      summary: 'Have events sent to an address',
      description:
        'As Standard Webhooks has it: POSTs that are signed with the secret, each with the same `webhook-id` until it is taken. Events from now on.',
      body: webhookCreateSchema,
      answer: webhookWithSecretSchema,
      shownOnce: ['secret'],
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'add',
        help: 'have events sent to an address; prints the secret once',
        arguments: ['url'],
        flags,
        sends: ({ url, events, agent, session, user, ordered }) => ({
          url,
          events: events ?? [url.startsWith('mailto:') ? 'approval.*' : '*'],
          agent,
          session_key: session,
          user,
          ordered: ordered === true,
        }),
        says: ({ id, url, secret }) =>
          url.startsWith('mailto:')
            ? `${id} is told of approvals from now on`
            : `${id} is sent events from now on; its secret, shown this once: ${secret}`,
      },
    }),
    updateWebhook: make.change({
      scope: 'admin',
      summary: 'Change a webhook',
      description: 'Given fields replace the old ones; null removes an optional one.',
      body: webhookChangeSchema,
      refuses: ['Conflict', 'Unprocessable'],
      command: {
        word: 'set',
        help: 'change one, or bring it back',
        flags: changes,
        says: ({ id, enabled }) => `${id} is ${enabled ? 'on' : 'off'}`,
      },
    }),
    rotateWebhookSecret: make.action('rotate')({
      scope: 'admin',
      summary: 'Give a webhook a new secret',
      description: 'Deliveries carry signatures of both secrets for a while, a day unless it is said.',
      body: webhookRotationSchema,
      answer: webhookWithSecretSchema,
      shownOnce: ['secret'],
      command: {
        word: 'rotate',
        help: 'a new secret; both sign for a day',
        says: ({ secret }) => `the new secret, shown this once: ${secret}`,
      },
    }),
    deleteWebhook: make.remove({
      scope: 'admin',
      summary: 'Delete a webhook with its deliveries',
      command: { word: 'delete', help: 'delete one with its deliveries', says: (id) => `deleted ${id}` },
    }),
    listDeliveries: make.listOf('deliveries', deliverySchema, {
      scope: 'admin',
      summary: 'List deliveries of a webhook, the newest first',
      description: 'Those that failed for good wait here to be sent again. Kept for 30 days after their end.',
      query: { status: z.enum(DELIVERY_STATUSES).optional() },
      command: { help: 'what was sent to one, the newest first', ...DELIVERIES },
    }),
    redeliverFailed: make.action('redeliver')({
      scope: 'admin',
      summary: 'Send all failed deliveries of a webhook again',
      body: z.strictObject({}),
      answer: z.object({ redelivered: z.int() }),
      command: {
        word: 'redeliver',
        help: 'send all that failed again',
        says: ({ redelivered }) => `${redelivered} are sent again`,
      },
    }),
    redeliver: operation({
      ...one,
      method: 'POST',
      path: '/v1/webhooks/:id/deliveries/:delivery/redeliver',
      scope: 'admin',
      summary: 'Send one delivery again, with its id',
      description: 'One that still waits for an attempt is left as it is.',
      answer: deliverySchema,
      command: { by: 'webhooks redeliver' },
    }),
  }),
);

/** Tests whether notifications of approvals arrive. */
export const approvalNotifications = defineResource(
  {
    path: '/v1/approvals/notify-test',
    tag: 'approvals',
    item: notifyTestSchema,
    key: 'id',
    missing: 'There is no such delivery',
  },
  () => ({
    testNotifications: operation({
      method: 'POST',
      path: '/v1/approvals/notify-test',
      scope: 'admin',
      summary: 'Send a test to those who are told of approvals',
      description:
        'To each webhook, of an address or of `mailto:`, that is sent events of approvals. Each is tried once; the answer waits for that, 25 s at most.',
      body: notifyTestCreateSchema,
      answer: z.object({ data: z.array(notifyTestSchema) }),
      command: {
        word: 'test',
        help: 'send a test to each webhook and mail address; exit 1 when one was not reached',
        flags: { to: ['--to <webhook>', 'only to this one, by id, URL or mail address'] },
      },
      refuses: ['Unprocessable'],
    }),
  }),
);
