/** Telegram's updates, as setWebhook has them sent (core.telegram.org/bots/api#update). Its secret is a header's word, no signature. */
import type { Inbound, InboundFile } from '#domain/channel.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import type { ChannelReader, ReadChannel } from './channel-reader.ts';
import { record, sizeOf, text } from './fields.ts';
import { isSame } from './signatures.ts';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';

export const telegramReader: ChannelReader = {
  verify({ headers }, { secret_token: secret }) {
    const given = headers[SECRET_HEADER];
    return !!secret && isSame(given, secret);
  },
  read(body, channel) {
    const update = record(body);
    const id = String(update['update_id'] ?? '');
    if (!/^\d{1,20}$/.test(id)) return { inbound: [] };
    const one = isRecord(update['callback_query'])
      ? readPress(id, update['callback_query'])
      : readMessage(id, record(update['message']), channel);
    return { inbound: one ? [one] : [] };
  },
  // The answer to an update may be a call of a method.
  answer({ kind, press, chat, thread }, words) {
    const body =
      kind === 'press'
        ? { method: 'answerCallbackQuery', callback_query_id: press?.answerTo, text: words.slice(0, 200) }
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

function readMessage(id: string, message: Fields, { settings }: ReadChannel): Inbound | undefined {
  const from = placeOf(message, message['from']);
  // Bots do not talk to each other: neither ends.
  if (!from || record(message['from'])['is_bot'] === true) return undefined;
  const bot = (text(settings['username']) ?? '').replace(/^@/, '');
  const said = text(message['text']) ?? text(message['caption']) ?? '';
  const command = /^\/([a-z0-9_]{1,32})(?:@([a-z0-9_]+))?(?:\s+|$)/i.exec(said);
  if (command?.[2] !== undefined && !isSameName(command[2], bot)) return undefined;
  const files = filesOf(message);
  if (said === '' && files.length === 0) return undefined;
  const words = command ? said.slice(command[0].length) : said;
  const plain = withoutMention(words, bot);
  return {
    ...from,
    kind: command ? 'command' : 'message',
    id,
    text: plain.trim(),
    mentionsBot: command !== null || plain !== words,
    repliesToBot: isReplyTo(bot, record(message['reply_to_message'])),
    files,
    isForwarded: message['forward_origin'] !== undefined,
  };
}

function withoutMention(words: string, bot: string): string {
  const name = bot.replace(/\W/g, '');
  return name === '' ? words : words.replace(new RegExp(`@${name}(?![a-z0-9_])`, 'gi'), '');
}

/** Each message of a topic answers the one that made it, which may be the bot's. */
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

/** Of a photo the largest; the sizes come in their order. A GIF is told twice, as a document too. */
function filesOf(message: Fields): readonly InboundFile[] {
  const photos = Array.isArray(message['photo']) ? message['photo'] : [];
  const kinds = ['document', 'voice', 'audio', 'video', 'video_note'];
  return [photos.at(-1), ...kinds.map((kind) => message[kind])].flatMap((given) => {
    const file = record(given);
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
