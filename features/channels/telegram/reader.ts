/**
 * Reads Telegram's updates from setWebhook (core.telegram.org/bots/api#update). Its secret is a header's value, not a
 * signature.
 */
import type { Inbound, InboundFile } from '../contract.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import type { ChannelReader, ReadChannel } from '../routes/channel-reader.ts';
import { record, sizeOf, text } from '../routes/fields.ts';
import { isSame } from '../signatures.ts';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';

export const telegramReader: ChannelReader = {
  verify({ headers }, { secret_token: secret }) {
    const values = headers[SECRET_HEADER];
    return !!secret && isSame(values, secret);
  },
  read(body, channel, { credentials }) {
    const update = record(body);
    const id = String(update['update_id'] ?? '');
    if (!/^\d{1,20}$/.test(id)) return { inbound: [] };
    const one = isRecord(update['callback_query'])
      ? readPress(id, update['callback_query'])
      : readMessage(id, record(update['message']), channel, (credentials['token'] ?? '').split(':')[0] ?? '');
    return { inbound: one ? [one] : [] };
  },
  // The answer to an update may be a call of a method.
  answer({ kind, press, chat, thread }, words) {
    const body =
      kind === 'press'
        ? {
            method: 'answerCallbackQuery',
            callback_query_id: press?.answerTo,
            text: words.slice(0, 200).toWellFormed(),
          }
        : { method: 'sendMessage', chat_id: chat, message_thread_id: numeric(thread), text: words };
    return { status: 200, body };
  },
};

function readPress(id: string, query: Fields): Inbound | undefined {
  const message = record(query['message']);
  const from = placeOf(message, query['from']);
  const { id: answerTo, data } = query;
  if (!from || typeof answerTo !== 'string' || typeof data !== 'string') return undefined;
  return { ...from, ...NOTHING, kind: 'press', id, press: { data, answerTo } };
}

const NOTHING = { text: '', mentionsBot: false, repliesToBot: false, files: [] } as const;

function readMessage(
  id: string,
  message: Fields,
  { settings }: ReadChannel,
  botId: string,
): Inbound | undefined {
  const from = placeOf(message, message['from']);
  // Bots do not talk to each other, because neither would stop.
  if (!from || record(message['from'])['is_bot'] === true) return undefined;
  const bot = (text(settings['username']) ?? '').replace(/^@/, '');
  const words = text(message['text']) ?? text(message['caption']) ?? '';
  const command = /^\/([a-z0-9_]{1,32})(?:@([a-z0-9_]+))?(?:\s+|$)/i.exec(words);
  if (command?.[2] !== undefined && !isSameName(command[2], bot)) return undefined;
  const files = filesOf(message);
  if (words === '' && files.length === 0) return undefined;
  const mentions = mentionsIn(message, words, bot, botId);
  const plain = without(words, [...(command ? [{ start: 0, end: command[0].length }] : []), ...mentions]);
  return {
    ...from,
    kind: command ? 'command' : 'message',
    id,
    text: plain.trim(),
    mentionsBot: command !== null || mentions.length > 0,
    repliesToBot: isReplyTo(bot, record(message['reply_to_message'])),
    files,
    album: text(message['media_group_id']),
    isForwarded: message['forward_origin'] !== undefined,
  };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Parts of a text in which a name is part of something else. */
const OTHER_PARTS: ReadonlySet<unknown> = new Set(['url', 'text_link', 'email', 'code', 'pre']);

/** Where the bot is mentioned: by its name, or by its id, as users without a name are. Positions are UTF-16 units. */
function mentionsIn(message: Fields, text: string, bot: string, botId: string): readonly Span[] {
  const value = message['text'] === undefined ? message['caption_entities'] : message['entities'];
  const entities = (Array.isArray(value) ? value : []).map(record).map(({ type, offset, length, user }) => {
    const start = sizeOf(offset) ?? 0;
    return { type, start, end: start + (sizeOf(length) ?? 0), user: record(user) };
  });
  const name = bot.replace(/\W/g, '');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_/=&?#])@${name}(?![a-z0-9_])`, 'giu');
  const named = name === '' ? [] : [...text.matchAll(pattern)];
  const byName = named
    .map(({ index, 0: found }) => ({ start: index, end: index + found.length }))
    .filter(
      ({ start }) =>
        !entities.some((part) => OTHER_PARTS.has(part.type) && part.start <= start && start < part.end),
    );
  const byId = entities.filter(({ type, user }) => type === 'text_mention' && idOf(user['id']) === botId);
  return [...byName, ...byId];
}

function without(words: string, spans: readonly Span[]): string {
  return spans
    .toSorted((one, other) => other.start - one.start)
    .reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), words);
}

/** Each message of a topic answers the one that created it, which may be the bot's. */
function isReplyTo(bot: string, answered: Fields): boolean {
  const author = record(answered['from']);
  const isTopic = answered['forum_topic_created'] !== undefined;
  return author['is_bot'] === true && !isTopic && isSameName(text(author['username']) ?? '', bot);
}

function isSameName(one: string, other: string): boolean {
  return one !== '' && one.toLowerCase() === other.toLowerCase();
}

function placeOf(message: Fields, from: unknown) {
  const [chat, who] = [record(message['chat']), record(from)];
  const [chatId, personId] = [idOf(chat['id']), idOf(who['id'])];
  if (chatId === undefined || personId === undefined) return undefined;
  const name = [who['first_name'], who['last_name']].filter((part) => typeof part === 'string').join(' ');
  return {
    chat: chatId,
    // Answers in a group without topics have one too.
    thread: message['is_topic_message'] === true ? idOf(message['message_thread_id']) : undefined,
    isGroup: chat['type'] !== 'private',
    person: { id: personId, name: name || (text(who['username']) ?? personId) },
  };
}

/** For a photo, the largest size; sizes come in order. A GIF also arrives as a document. */
function filesOf(message: Fields): readonly InboundFile[] {
  const photos = Array.isArray(message['photo']) ? message['photo'] : [];
  const kinds = ['document', 'voice', 'audio', 'video', 'video_note'];
  return [photos.at(-1), ...kinds.map((kind) => message[kind])].flatMap((value) => {
    const file = record(value);
    const source = text(file['file_id']);
    if (source === undefined) return [];
    return [
      {
        source,
        name: text(file['file_name']),
        type: text(file['mime_type']),
        size: sizeOf(file['file_size']),
      },
    ];
  });
}

/** Ids are numbers of up to 52 bits. */
function idOf(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : text(value);
}

function numeric(thread: string | undefined): number | undefined {
  return thread === undefined ? undefined : Number(thread);
}
