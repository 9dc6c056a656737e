/** Reads Slack's Events API and pressed buttons (docs.slack.dev): JSON events, and forms whose `payload` is JSON. */
import type { Inbound, InboundFile } from '../contract.ts';
import type { Fields } from '#domain/outside-value.ts';
import type { ChannelReader, Reading } from '../routes/channel-reader.ts';
import { record, sizeOf, text } from '../routes/fields.ts';
import { isSlackSigned } from '../signatures.ts';

export const slackReader: ChannelReader = {
  verify: (request, { signing_secret: secret }, now) => !!secret && isSlackSigned(request, secret, now),
  read(body) {
    if (typeof body === 'string') return readForm(body);
    const call = record(body);
    if (call['type'] === 'url_verification')
      return { inbound: [], reply: { status: 200, body: { challenge: text(call['challenge']) ?? '' } } };
    const inbound = call['type'] === 'event_callback' ? readEvent(call) : undefined;
    return { inbound: inbound ? [inbound] : [] };
  },
};

/** The kinds of messages that somebody has just written. */
const WRITTEN: ReadonlySet<unknown> = new Set([undefined, 'file_share', 'thread_broadcast']);

function readEvent(call: Fields): Inbound | undefined {
  const event = record(call['event']);
  const bot = botOf(call);
  const from = isSpoken(event) ? speakerOf(event, bot) : undefined;
  if (!from) return undefined;
  const { chat, ts, person } = from;
  const output = text(event['text']) ?? '';
  const unmentioned = bot === undefined ? output : output.replaceAll(mentionOf(bot), '');
  const words = plainText(unmentioned);
  const files = filesOf(event['files']);
  if (words === '' && files.length === 0) return undefined;
  const isGroup = !isDirect(chat);
  return {
    kind: 'message',
    // A mention also arrives as a message, under another event's id; a repeated event has its first id.
    id: `${chat}.${ts}`,
    chat,
    // A message in a channel begins a thread.
    thread: text(event['thread_ts']) ?? (isGroup ? ts : undefined),
    isGroup,
    person: { id: ofTeam(person, event['user_team'] ?? event['team'], call['team_id']), name: person },
    text: words,
    mentionsBot: event['type'] === 'app_mention' || unmentioned !== output,
    repliesToBot: bot !== undefined && event['parent_user_id'] === bot,
    files,
  };
}

/** It may have the name after a bar. */
function mentionOf(bot: string): RegExp {
  return new RegExp(`<@${bot.replaceAll(/\W/g, '')}(?:\\|[^<>]*)?>`, 'g');
}

/** A file without an address is a tombstone, or hidden by a limit of the workspace. */
function filesOf(value: unknown): readonly InboundFile[] {
  return (Array.isArray(value) ? value : []).flatMap((one) => {
    const file = record(one);
    const source = text(file['url_private_download']) ?? text(file['url_private']);
    if (source === undefined) return [];
    return [{ source, name: text(file['name']), type: text(file['mimetype']), size: sizeOf(file['size']) }];
  });
}

/** True for a new message of a person or a program. */
function isSpoken({ type, subtype }: Fields): boolean {
  return (type === 'message' || type === 'app_mention') && WRITTEN.has(subtype);
}

/** Returns undefined for a program, such as the bot, because programs do not talk to each other. */
function speakerOf(event: Fields, bot: string | undefined) {
  const [chat, ts, person] = [text(event['channel']), text(event['ts']), text(event['user'])];
  if (chat === undefined || ts === undefined || person === undefined) return undefined;
  return event['bot_id'] !== undefined || person === bot ? undefined : { chat, ts, person };
}

/** Ids belong to a workspace. A person of another workspace, who shares a channel, has its id as a prefix. */
function ofTeam(person: string, team: unknown, own: unknown): string {
  return text(team) === undefined || text(own) === undefined || team === own
    ? person
    : `${String(team)}/${person}`;
}

function botOf(call: Fields): string | undefined {
  const all = Array.isArray(call['authorizations']) ? call['authorizations'] : [];
  return text(record(all.find((one) => record(one)['is_bot'] === true))['user_id']);
}

function isDirect(chat: string): boolean {
  return chat.startsWith('D');
}

/** The text as people read it: Slack escapes three signs, and puts addresses and mentions in angle brackets. */
function plainText(text: string): string {
  return text
    .replaceAll(/<([^<>|]{1,3000})(?:\|([^<>]{0,3000}))?>/g, (_, target: string, label?: string) => {
      if (/^[@#!]/.test(target))
        return `${target.slice(0, 1).replace('!', '@')}${label?.replace(/^[@#]/, '') || target.slice(1)}`;
      const address = target.replace(/^mailto:/, '');
      return label === undefined || label === address ? address : `${label} (${address})`;
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}

/** A text body would replace the message whose button was pressed. */
const DONE = { status: 200, body: '' } as const;

function readForm(body: string): Reading {
  const press = readPress(parse(new URLSearchParams(body).get('payload')));
  return { inbound: press ? [press] : [], reply: DONE };
}

function readPress(payload: Fields): Inbound | undefined {
  if (payload['type'] !== 'block_actions' || !Array.isArray(payload['actions'])) return undefined;
  const [action, message, user] = [
    record(payload['actions'][0]),
    record(payload['message']),
    record(payload['user']),
  ];
  const [data, at, ts] = [text(action['value']), text(action['action_ts']), text(message['ts'])];
  const [chat, person] = [text(record(payload['channel'])['id']), text(user['id'])];
  if (data === undefined || at === undefined || ts === undefined) return undefined;
  if (chat === undefined || person === undefined) return undefined;
  return {
    kind: 'press',
    id: `${chat}.${ts}.${at}`,
    chat,
    // The answer to a press is below the question.
    thread: text(message['thread_ts']) ?? ts,
    isGroup: !isDirect(chat),
    person: {
      id: ofTeam(person, user['team_id'], message['team'] ?? record(payload['team'])['id']),
      name: text(user['name']) ?? text(user['username']) ?? person,
    },
    text: '',
    mentionsBot: false,
    repliesToBot: false,
    files: [],
    press: { data },
  };
}

function parse(json: string | null): Fields {
  try {
    return record(JSON.parse(json ?? 'null'));
  } catch {
    // The request is signed by Slack, but useless.
    return {};
  }
}
