/** Calls Telegram's Bot API (core.telegram.org/bots/api): each method is one POST, whose path contains the token. */
import type { ChannelButton, ChannelPlace } from '../contract.ts';
import { splitText } from '../rules/split-text.ts';
import { shownLength, telegramHtml } from './telegram-html.ts';
import { type Fields, isRecord } from '#domain/outside-value.ts';
import { blobOf, callService, fetchBytes } from '../activities/call-service.ts';
import { ChannelError } from '../activities/channel-error.ts';
import type { ChannelSender, SendContext, SentFile } from '../activities/channel-sender.ts';
import { postParts } from '../activities/post-parts.ts';

/** Characters of a message, after its marks are parsed. */
const MAX = 4096;

export const telegramSender: ChannelSender = {
  usualUrl: 'https://api.telegram.org',
  split: (post) => postParts(post, textsOf),
  async send(context, place, { markdown, buttons }) {
    const sent = await sayText(
      context,
      'sendMessage',
      { ...placeFields(place), ...markup(buttons) },
      markdown,
    );
    return String(sent['message_id']);
  },
  async edit(context, { chat }, id, { markdown, buttons = [] }) {
    const fields = { chat_id: chat, message_id: Number(id), ...markup(buttons) };
    const text = textsOf(markdown)[0] ?? '';
    try {
      await sayText(context, 'editMessageText', fields, text);
      return true;
    } catch (error) {
      if (!(error instanceof ChannelError && /not modified|not found|can't be edited/.test(error.message)))
        throw error;
      return error.message.includes('not modified');
    }
  },
  maxBytes: 50_000_000,
  async sendFile(context, place, file) {
    const isPhoto = PHOTOS.has(file.type) && file.bytes.length <= PHOTO_BYTES;
    const sent = await sendAs(context, place, file, isPhoto ? 'photo' : 'document').catch(
      (error: unknown) => {
        // Its sides are too long or too unequal for a photo.
        if (!(isPhoto && error instanceof ChannelError && error.refusal.status === 400)) throw error;
        return sendAs(context, place, file, 'document');
      },
    );
    return String(sent['message_id']);
  },
  async fetchFile(context, { source }) {
    const { file_path: path } = await call(context, 'getFile', { file_id: source });
    if (typeof path !== 'string' || path.split('/').includes('..'))
      throw new ChannelError('Telegram gives no path of the file', { status: 200, isFinal: true });
    const address = `${context.baseUrl}/file/bot${context.credentials['token']}/${encodeURI(path.replace(/^\/+/, ''))}`;
    return (await fetchBytes(context, 'Telegram', address)).bytes;
  },
  async connect(context, { address, settings }, report) {
    const me = await call(context, 'getMe', {});
    const name = String(me['username'] ?? '');
    report.account = `@${name}`;
    if (address !== undefined) {
      const secret_token = context.credentials['secret_token'];
      await call(context, 'setWebhook', { url: address, secret_token, allowed_updates: UPDATES });
      report.done.push(`Telegram calls ${address}`);
    }
    if (settings.username?.replace(/^@/, '').toLowerCase() !== name.toLowerCase())
      report.todo.push(`set settings.username to ${name}: by it groups mention the bot`);
    if (settings.groups === 'all' && me['can_read_all_group_messages'] !== true)
      report.todo.push(
        'turn privacy off with /setprivacy of @BotFather: else groups show the bot mentions and commands alone',
      );
  },
  async typing(context, place) {
    await call(context, 'sendChatAction', { ...placeFields(place), action: 'typing' });
  },
  async createTopic(context, chat, name, { iconColor: icon_color, iconEmoji: icon_custom_emoji_id }) {
    const topic = await call(context, 'createForumTopic', {
      chat_id: chat,
      name,
      icon_color,
      icon_custom_emoji_id,
    });
    return String(topic['message_thread_id']);
  },
};

function textsOf(markdown: string): readonly string[] {
  return splitText(markdown, MAX, (part) => shownLength(telegramHtml(part)));
}

/** The updates that features/channels/telegram/reader.ts reads. */
const UPDATES: readonly string[] = ['message', 'callback_query'];
const PHOTOS: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp']);
const PHOTO_BYTES = 10_000_000;

function sendAs(context: SendContext, place: ChannelPlace, file: SentFile, kind: 'photo' | 'document') {
  const form = new FormData();
  for (const [name, value] of Object.entries(placeFields(place))) form.append(name, String(value));
  form.append(kind, blobOf(file), file.name);
  return call(context, kind === 'photo' ? 'sendPhoto' : 'sendDocument', form);
}

function placeFields({ chat, thread }: ChannelPlace) {
  return { chat_id: chat, ...(thread !== undefined && { message_thread_id: Number(thread) }) };
}

/** Puts one button in a row, because their labels are long. */
function markup(buttons: readonly ChannelButton[] | undefined) {
  if (!buttons) return {};
  const rows = buttons.map(({ label, data, url }) => [
    { text: label, ...(url ? { url } : { callback_data: data }) },
  ]);
  return { reply_markup: { inline_keyboard: rows } };
}

/** Sends text that Telegram cannot read as HTML as plain text. */
async function sayText(
  context: SendContext,
  method: string,
  fields: Readonly<Record<string, unknown>>,
  markdown: string,
): Promise<Fields> {
  const common = { ...fields, link_preview_options: { is_disabled: true } };
  try {
    return await call(context, method, { ...common, text: telegramHtml(markdown), parse_mode: 'HTML' });
  } catch (error) {
    if (!(error instanceof ChannelError && /can't parse entities/.test(error.message))) throw error;
    return call(context, method, { ...common, text: markdown });
  }
}

/**
 * Returns the answer's `result`. A group that became a supergroup has another id, which the answer names. @throws
 * ChannelError
 */
async function call(
  context: SendContext,
  method: string,
  body: Readonly<Record<string, unknown>> | FormData,
  isMoved = false,
): Promise<Fields> {
  const {
    status,
    body: answer,
    retryAfter: ofHeader,
  } = await callService(context, `/bot${context.credentials['token']}/${method}`, body);
  const { ok, result, description, parameters } = answer;
  if (ok === true) return isRecord(result) ? result : {};
  const words = typeof description === 'string' ? description.slice(0, 300) : `it answered ${status}`;
  const moved = isRecord(parameters) ? parameters['migrate_to_chat_id'] : undefined;
  if (Number.isSafeInteger(moved) && !isMoved)
    return call(context, method, inChat(body, String(moved)), true);
  const wait = isRecord(parameters) ? parameters['retry_after'] : undefined;
  const retryAfter = typeof wait === 'number' ? wait * 1000 : ofHeader;
  // 401 and 404 mean that the token is wrong, which somebody may correct.
  throw new ChannelError(`Telegram: ${words}`, {
    status,
    retryAfter,
    isFinal: status === 400 || status === 403 || status === 413,
  });
}

function inChat(body: Readonly<Record<string, unknown>> | FormData, chat: string) {
  if (!(body instanceof FormData)) return { ...body, chat_id: chat };
  body.set('chat_id', chat);
  return body;
}
