/** Chat channels as requests, rows and answers contain them (IN-4). */
import { z } from 'zod';
import { breakerShape } from '#features/webhooks-out/schema.ts';
import { isRecord } from '#domain/outside-value.ts';
import { type Kept, labelSchema, nameSchema, textSchema, timeSchema } from '#domain/schema/scalars.ts';

const serviceId = textSchema(150);
const toolNames = z.array(z.string().regex(/^[A-Za-z0-9_*?:.-]{1,128}$/)).max(500);
const topic = z.strictObject({ allowed_tools: toolNames });

/** Settings of all or some chat services; credentials and settings of one type are separate. */
const known = z.looseObject({
  people: z.enum(['pairing', 'open', 'list']).optional().meta({
    description:
      '`pairing`, the usual: a stranger is told a code, with which somebody pairs him; `list`: strangers are not answered; `open`: everybody is',
  }),
  groups: z.enum(['mention', 'all', 'none']).optional().meta({
    description:
      'Which messages of groups are heard: those that name or answer the bot (`mention`, the usual), all, or none',
  }),
  allowed_tools: toolNames
    .optional()
    .meta({ description: 'Narrows the agent’s tools for all that is said here' }),
  topics: z.record(serviceId, topic).optional().meta({
    description: 'By thread, chat, or `chat/thread`: the same for what is said there',
  }),
  approvals_to: z.strictObject({ chat: serviceId, thread: serviceId.optional() }).optional().meta({
    description: 'Where questions are asked, in place of the chat that they are about',
  }),
  approvals_for: z.array(nameSchema).max(100).optional().meta({
    description: 'Agents whose questions are asked here too, wherever they work; needs `approvals_to`',
  }),
  targets: z.array(serviceId).max(1_000).optional().meta({
    description: 'Chats that the tool `message` may write to beside those in which its user has spoken',
  }),
  stream: z.boolean().optional().meta({
    description: 'Answers are seen while they are written: a message grows by edits. Off unless true',
  }),
  username: textSchema(64).optional().meta({ description: 'The bot’s own name, by which groups mention it' }),
});

export type ChannelSettings = Kept<typeof known>;

const { username: _, ...chat } = known.shape;
/** Names of the settings that all chat services have. */
export const CHAT_SETTINGS: readonly string[] = Object.keys(chat);

/** Settings of a type, with or without credentials. Their limit is 64 KB, because they are read with each message. */
export const channelSettingsSchema = known.refine((input) => JSON.stringify(input).length <= 65_536, {
  error: 'must be at most 64 KB',
});

/** Separates the sealed settings, which have these names, from the others. */
export function splitSettings(names: readonly string[], input: z.output<typeof channelSettingsSchema>) {
  const credentials = Object.fromEntries(names.map((name) => [name, input[name]]));
  const settings = Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));
  return { credentials, settings: settings as unknown as ChannelSettings };
}

/** Says what is wrong by field; undefined when everything is there. */
export function credentialProblem(names: readonly string[], credentials: unknown): string | undefined {
  const options = isRecord(credentials) ? credentials : {};
  const missing = names.find((name) => {
    const value = options[name];
    return typeof value !== 'string' || value === '' || value.length > 1_000;
  });
  return missing && `${missing} is needed: text, or secret://NAME of a secret that holds it`;
}

export const channelCreateSchema = z.strictObject({
  key: nameSchema,
  /** The resource names the types of the build. */
  type: z.string(),
  agent: nameSchema.default('main'),
  settings: channelSettingsSchema.prefault({}),
});

export const channelChangeSchema = z.strictObject({
  agent: nameSchema.optional(),
  settings: z
    .looseObject({})
    .optional()
    .meta({ description: 'Given ones replace the old; null removes one' }),
  enabled: z.boolean().optional(),
});

export const channelSchema = z.object({
  key: z.string(),
  /** The resource names the types of the build. */
  type: z.string(),
  agent: z.string(),
  settings: z.looseObject({}),
  credentials: z
    .array(z.string())
    .meta({ description: 'Those of the settings that are sealed and not shown' }),
  inbound: z.string().meta({ description: 'Where the service has to call, below the public address' }),
  enabled: z.boolean(),
  failing_since: timeSchema.nullable().meta({ description: 'Nothing has reached the service since then' }),
  ...breakerShape,
  created_by: z.string(),
  created_at: timeSchema,
});

export const connectedSchema = z.object({
  account: z.string().nullable().meta({ description: 'As whom it speaks there, by the service’s word' }),
  done: z.array(z.string()),
  todo: z.array(z.string()).meta({ description: 'What is missing still' }),
});

export const pairingSchema = z
  .strictObject({
    code: z.string().min(4).max(20).optional().meta({ description: 'As the stranger was told' }),
    person: serviceId.optional().meta({ description: 'In place of a code: the service’s id of somebody' }),
    user: labelSchema.meta({ description: 'As whom he speaks' }),
    may_decide: z.boolean().default(false).meta({ description: 'Whether his presses decide approvals' }),
  })
  .refine(({ code, person }) => (code === undefined) !== (person === undefined), {
    error: 'needs either code or person',
  });

export const channelPersonSchema = z.object({
  person: z.string(),
  name: z.string(),
  user: z.string(),
  may_decide: z.boolean(),
  created_by: z.string(),
  created_at: timeSchema,
});
