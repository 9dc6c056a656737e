/**
 * Calls Discord's REST API (docs.discord.com/developers/resources/message): messages in channels and threads, by a
 * bot's token.
 */
import type { ChannelButton, ChannelPlace, ChannelPost } from '../contract.ts';
import { discordMarkdown } from './discord-markdown.ts';
import { splitText } from '../rules/split-text.ts';
import type { Fields } from '#domain/outside-value.ts';
import { blobOf, callService, fetchBytes, ownAddress } from '../activities/call-service.ts';
import { ChannelError } from '../activities/channel-error.ts';
import type { ChannelSender, SendContext } from '../activities/channel-sender.ts';
import { postParts } from '../activities/post-parts.ts';

/** Characters of a message. */
const MAX = 2_000;
/** Addresses are not fetched for a preview, so that what a model writes goes to no third party. */
const SUPPRESS_EMBEDS = 4;
/** A thread that everybody in the channel sees. */
const PUBLIC_THREAD = 11;
const UNKNOWN_MESSAGE = 10_008;

export const discordSender: ChannelSender = {
  usualUrl: 'https://discord.com/api/v10',
  split: (post) => postParts(post, textsOf),
  isOnceByKey: true,
  async send(context, place, part, key) {
    const once = key === undefined ? {} : { nonce: key, enforce_nonce: true };
    const sent = await call(context, 'POST', `${path(place)}/messages`, { ...messageOf(part), ...once });
    return String(sent['id']);
  },
  async edit(context, place, id, { markdown, buttons = [] }) {
    const [text = ''] = textsOf(markdown);
    try {
      await call(context, 'PATCH', `${path(place)}/messages/${id}`, messageOf({ markdown: text, buttons }));
      return true;
    } catch (error) {
      if (!(error instanceof ChannelError && error.message.includes(`(${UNKNOWN_MESSAGE})`))) throw error;
      return false;
    }
  },
  // The limit of a server without boosts.
  maxBytes: 10_485_760,
  async sendFile(context, place, file) {
    const form = new FormData();
    const notice = { allowed_mentions: { parse: [] }, attachments: [{ id: 0, filename: file.name }] };
    form.append('payload_json', JSON.stringify(notice));
    form.append('files[0]', blobOf(file), file.name);
    return String((await call(context, 'POST', `${path(place)}/messages`, form))['id']);
  },
  async fetchFile(context, { source }) {
    const address = ownAddress(
      context,
      'Discord',
      source,
      /^(?:cdn\.discordapp\.com|media\.discordapp\.net)$/,
    );
    return (await fetchBytes(context, 'Discord', address)).bytes;
  },
  async connect(context, { address }, report) {
    const { id, name, verify_key: key } = await call(context, 'GET', '/applications/@me');
    report.account = String(name);
    if (key !== context.credentials['public_key'])
      report.todo.push(`set settings.public_key to ${String(key)}: the application's own`);
    // A command of the same name replaces the previous one.
    await call(context, 'POST', `/applications/${String(id)}/commands`, ASK);
    report.done.push('the command /ask is made');
    const invite = `https://discord.com/oauth2/authorize?client_id=${String(id)}&scope=bot+applications.commands&permissions=${PERMISSIONS}`;
    report.todo.push(`invite the bot, where it is not yet, by ${invite}`);
    if (address === undefined) return;
    // Discord tests the address before it answers.
    await call(context, 'PATCH', '/applications/@me', { interactions_endpoint_url: address });
    report.done.push(`Discord calls ${address}`);
  },
  async typing(context, place) {
    await call(context, 'POST', `${path(place)}/typing`);
  },
  async createTopic(context, chat, name, { iconColor, iconEmoji }) {
    if (name.length > 100) refuse('the name of a thread has at most 100 characters');
    if (iconColor !== undefined || iconEmoji !== undefined) refuse('threads have no icons');
    const thread = await call(context, 'POST', `${path({ chat })}/threads`, {
      name,
      type: PUBLIC_THREAD,
    });
    return String(thread['id']);
  },
};

const ASK = {
  name: 'ask',
  description: 'Ask the agent',
  options: [
    { type: 3, name: 'text', description: 'What to do', required: true },
    { type: 11, name: 'file', description: 'A file for it' },
  ],
};
/** View Channels, Send Messages, Attach Files, Create Public Threads, Send Messages in Threads. */
const PERMISSIONS = (1n << 10n) | (1n << 11n) | (1n << 15n) | (1n << 35n) | (1n << 38n);

/** @throws ChannelError */
function refuse(words: string): never {
  throw new ChannelError(`Discord: ${words}`, { status: 0, isFinal: true });
}

function textsOf(markdown: string): readonly string[] {
  return splitText(markdown, MAX, (part) => discordMarkdown(part).length);
}

/** A thread is a channel of its own. */
function path({ chat, thread = chat }: ChannelPlace): string {
  return `/channels/${encodeURIComponent(thread)}`;
}

function messageOf({ markdown, buttons = [] }: ChannelPost) {
  return {
    content: discordMarkdown(markdown),
    allowed_mentions: { parse: [] },
    flags: SUPPRESS_EMBEDS,
    components: rowsOf(buttons),
  };
}

/** A row has five buttons, and a message five rows. */
function rowsOf(buttons: readonly ChannelButton[]) {
  const shown = buttons.slice(0, 25).map(({ label, data, url }) => ({
    type: 2,
    label: label.slice(0, 80),
    ...(url === undefined ? { style: 2, custom_id: data } : { style: 5, url }),
  }));
  const rows = Array.from({ length: Math.ceil(shown.length / 5) }, (_, row) =>
    shown.slice(row * 5, row * 5 + 5),
  );
  return rows.map((components) => ({ type: 1, components }));
}

/** @throws ChannelError */
async function call(context: SendContext, method: string, path: string, body?: object): Promise<Fields> {
  const headers = {
    authorization: `Bot ${context.credentials['token']}`,
    // Discord requires the first word.
    'user-agent': 'DiscordBot (TempoClaw, 1)',
  };
  const answer = await callService(context, path, body, { method, headers });
  const { status, body: input } = answer;
  if (status >= 200 && status < 300) return input;
  const wait = input['retry_after'];
  const words =
    typeof input['message'] === 'string' ? input['message'].slice(0, 300) : `it answered ${status}`;
  const code = typeof input['code'] === 'number' ? ` (${input['code']})` : '';
  // 401 means that the token is wrong, which somebody may correct.
  throw new ChannelError(`Discord: ${words}${code}`, {
    status,
    retryAfter: typeof wait === 'number' ? Math.ceil(wait * 1000) : answer.retryAfter,
    isFinal: status === 400 || status === 403 || status === 404 || status === 413,
  });
}
