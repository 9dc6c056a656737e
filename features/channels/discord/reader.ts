/**
 * Reads Discord's interactions over HTTP (docs.discord.com/developers/interactions): the command `/ask` and pressed
 * buttons.
 */
import type { ChannelPlace, Inbound, InboundFile } from '../contract.ts';
import { discordMarkdown } from './discord-markdown.ts';
import { type Fields, fieldOf } from '#domain/outside-value.ts';
import type { ChannelReader, Reading, ServiceReply } from '../routes/channel-reader.ts';
import { record, sizeOf, text } from '../routes/fields.ts';
import { isDiscordSigned } from '../signatures.ts';

/** Types of interactions. */
const [PING, COMMAND, PRESS] = [1, 2, 3];
/** Types of answers. */
const [PONG, MESSAGE, NOTHING_YET] = [1, 4, 6];
/** Flag of answers that only the requester sees. */
const EPHEMERAL = 64;
/** Characters of a message. */
const MAX = 2_000;

export const discordReader: ChannelReader = {
  verify: (request, { public_key: key }, now) => !!key && isDiscordSigned(request, key, now),
  read(body): Reading {
    const call = record(body);
    if (call['type'] === PING) return { inbound: [], reply: json({ type: PONG }) };
    const from = placeOf(call);
    const id = text(call['id']);
    if (!from || id === undefined) return { inbound: [] };
    if (call['type'] === PRESS) return readPress(from, id, call);
    return call['type'] === COMMAND ? readCommand(from, id, call) : { inbound: [] };
  },
  answer: (_, words) => replyWith(words, EPHEMERAL),
};

type From = ChannelPlace & Pick<Inbound, 'isGroup' | 'person'>;

/** Types of a command's options. */
const [TEXT, ATTACHMENT] = [3, 11];

/**
 * Text and files of a command, whatever their names are. The others in the chat see the question, because they read its
 * answer below.
 */
function readCommand(from: From, id: string, call: Fields): Reading {
  const { options, resolved } = record(call['data']);
  const values = (Array.isArray(options) ? options : []).map(record);
  const ofType = (type: number) =>
    values.flatMap((one) => (one['type'] === type ? [text(one['value']) ?? ''] : []));
  const [question = ''] = ofType(TEXT);
  const attached = record(record(resolved)['attachments']);
  const files = ofType(ATTACHMENT).flatMap((key) => fileOf(record(fieldOf(attached, key))));
  if (question === '') return { inbound: [], reply: replyWith('Say what to do: /ask text', EPHEMERAL) };
  const one: Inbound = { ...from, ...NOTHING, kind: 'command', id, text: question, mentionsBot: true, files };
  return { inbound: [one], reply: replyWith(`> ${discordMarkdown(question.replaceAll(/\s+/g, ' '))}`) };
}

function fileOf(file: Fields): readonly InboundFile[] {
  const source = text(file['url']);
  if (source === undefined) return [];
  return [
    { source, name: text(file['filename']), type: text(file['content_type']), size: sizeOf(file['size']) },
  ];
}

function readPress(from: From, id: string, call: Fields): Reading {
  const data = text(record(call['data'])['custom_id']);
  if (data === undefined) return { inbound: [] };
  return {
    inbound: [{ ...from, ...NOTHING, kind: 'press', id, press: { data } }],
    reply: json({ type: NOTHING_YET }),
  };
}

const NOTHING = { text: '', mentionsBot: false, repliesToBot: false, files: [] } as const;

/** Kinds of channels that are threads of another. */
const THREADS: ReadonlySet<unknown> = new Set([10, 11, 12]);

function placeOf(call: Fields): From | undefined {
  const channel = record(call['channel']);
  const user = record(record(call['member'])['user'] ?? call['user']);
  const [id, person] = [text(channel['id']) ?? text(call['channel_id']), text(user['id'])];
  if (id === undefined || person === undefined) return undefined;
  const parent = THREADS.has(channel['type']) ? text(channel['parent_id']) : undefined;
  return {
    chat: parent ?? id,
    thread: parent === undefined ? undefined : id,
    // A direct message with the bot has no server, and kind 1.
    isGroup: call['guild_id'] !== undefined || channel['type'] !== 1,
    person: { id: person, name: text(user['global_name']) ?? text(user['username']) ?? person },
  };
}

function replyWith(words: string, flags = 0): ServiceReply {
  const content = words.slice(0, MAX).toWellFormed();
  return json({ type: MESSAGE, data: { content, flags, allowed_mentions: { parse: [] } } });
}

function json(body: object): ServiceReply {
  return { status: 200, body };
}
