/**
 * Decides what an action in a chat service becomes: a message of a session, a decision, a code for a stranger, or
 * nothing.
 */
import { announceDeliveries } from '#features/webhooks-out/index.ts';
import { createHash, createHmac, randomInt } from 'node:crypto';
import { MAX_ATTACHMENTS } from '#domain/files/attachment.ts';
import { messageText } from '../rules/message-text.ts';
import { toolsFor } from '../rules/tools-for.ts';
import { ALBUM_SECONDS } from '../rules/album.ts';
import {
  type AlbumPart,
  type ChannelType,
  chatIdOf,
  type Inbound,
  isAddressed,
  type WaitingMessage,
} from '../contract.ts';
import { Failure } from '#domain/errors.ts';
import { OUTSIDE_MESSAGE } from '#domain/policy/used-tools.ts';
import { isSessionKey } from '#domain/ids.ts';
import { addToAlbum, countWaiting, insertDirectPost } from '../store/channel-post-store.ts';
import { type ChannelRow, findPerson, offerPairing } from '../store/channel-store.ts';
import { findUntaken } from '#store/turns/message-store.ts';
import { findSession } from '#store/turns/session-store.ts';
import type { ApiDeps } from '#api/deps.ts';
import { type Submission, submitMessage } from '#api/submit-message.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ChannelTypePart } from './channel-types.ts';
import { decidePressed, type Speaker } from './decide-pressed.ts';

/** Characters of a message; services accept less. */
const MAX = 100_000;
const CODE_LETTERS = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';

/**
 * Returns words for the person, to be sent within the answer to the service; if its reader cannot do that, they are
 * posted. Safe to repeat: each update counts once. Throws Failure for what the service should send again.
 */
export async function hearInbound(
  deps: ApiDeps,
  tenant: string,
  channel: ChannelRow,
  inbound: Inbound,
  type: ChannelTypePart,
): Promise<string | undefined> {
  if (await type.begin?.(deps, tenant, channel, inbound)) return undefined;
  const mayAnswer = type.reader?.answer !== undefined;
  const words = await hear(deps, tenant, channel, inbound, mayAnswer);
  if (words === undefined || mayAnswer) return words;
  const { chat, thread } = inbound;
  const post = { place: { chat, thread }, markdown: words };
  const id = `msg_${digestOf(tenant, channel.key, 'words', inbound.id)}`;
  await insertDirectPost(forTenant(deps.pool, tenant), channel.webhook_id, {
    id,
    session: sessionOf(channel, inbound),
    post,
  });
  await announceDeliveries(deps.pool);
  return undefined;
}

async function hear(
  deps: ApiDeps,
  tenant: string,
  channel: ChannelRow,
  inbound: Inbound,
  mayAnswer: boolean,
): Promise<string | undefined> {
  const { key, type, settings } = channel;
  const { people = 'pairing', groups = 'mention' } = settings;
  const person: Speaker | undefined = inbound.isCall
    ? { user_id: inbound.person.id, may_decide: false }
    : await findPerson(forTenant(deps.pool, tenant), key, inbound.person.id);
  if (inbound.kind === 'press') {
    const { words, isRefusal } = await decidePressed(deps, tenant, channel, inbound, person);
    // The question itself shows its outcome.
    return mayAnswer || isRefusal ? words : undefined;
  }
  const isKnown = person !== undefined || people === 'open';
  // In a group of files, one part addresses the bot for all.
  const mayBelong = isKnown && inbound.album !== undefined;
  if (!mayBelong && !isAddressed(inbound, groups)) return alone(type, 'I am not to be asked here.');
  if (!isKnown) return meet(deps, tenant, channel, inbound);
  if (isEmpty(inbound)) return `Say something to ${channel.agent_key}.`;
  return submit(deps, tenant, channel, inbound, person);
}

function isEmpty({ text, files }: Inbound): boolean {
  return text.trim() === '' && files.length === 0;
}

/** Without words, Discord would show the question to all; only the requester sees these. Other services say nothing. */
function alone(type: ChannelType, words: string): string | undefined {
  return type === 'discord' ? words : undefined;
}

/** Handles a person that nobody has paired. */
async function meet(
  { pool }: ApiDeps,
  tenant: string,
  { key, type, settings: { people = 'pairing' } }: ChannelRow,
  { person, isGroup }: Inbound,
): Promise<string | undefined> {
  if (people !== 'pairing') return alone(type, 'I do not know you.');
  // Everyone in a group would read the code.
  if (isGroup) return alone(type, 'I do not know you; write to me in a direct message.');
  const fresh = Array.from({ length: 8 }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('');
  const name = person.name.replaceAll('\0', '').slice(0, 200).toWellFormed();
  const code = await offerPairing(forTenant(pool, tenant), key, { id: person.id, name }, fresh);
  return code === undefined
    ? alone(type, 'You were told your code within this minute.')
    : `I do not know you yet. Somebody who runs this has to enter within an hour:\n\ntempoclaw channels pair ${key} ${code} --user NAME`;
}

async function submit(
  deps: ApiDeps,
  tenant: string,
  channel: ChannelRow,
  inbound: Inbound,
  person: Speaker | undefined,
): Promise<string | undefined> {
  const db = forTenant(deps.pool, tenant);
  const chat = { channel: channel.key, chat_id: chatIdOf(inbound) };
  const own = sessionOf(channel, inbound);
  const session = (await deps.sessionOfChat?.(tenant, own, chat)) ?? own;
  const there = await findSession(db, session);
  if (there && (there.channel !== chat.channel || there.chat_id !== chat.chat_id))
    throw new Failure(
      'Conflict',
      `The session ${session} is not of this chat; delete it, or choose another key for the channel`,
    );
  const stem = digestOf(tenant, channel.key, 'message', inbound.id);
  const { key } = channel;
  const text = spokenText(deps, channel, inbound, person, stem);
  const message: Submission = {
    id: `msg_${stem}`,
    repeatable: true,
    session,
    text: messageText(text, ''),
    mode: null,
    context: {
      ...chat,
      // A session that already exists stays with its agent.
      agent: there ? undefined : channel.agent_key,
      user: person?.user_id ?? `${key}:${inbound.person.id}`,
      group: toolsFor(channel.settings, inbound),
      roles: rolesOf(person),
      read: isStrangers(inbound, text) ? { [OUTSIDE_MESSAGE]: `msg_${stem}` } : undefined,
    },
    confinedTo: null,
  };
  if (inbound.files.length > 0) return waitForFiles(deps, tenant, channel, inbound, { ...message, ...text });
  try {
    await submitMessage(deps, tenant, message);
    return undefined;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.type === 'IdempotencyMismatch') return handInOld(deps, tenant, message);
    if (error.type === 'NotFound') return `There is no agent ${channel.agent_key} any more.`;
    throw error;
  }
}

function rolesOf(person: Speaker | undefined): readonly string[] {
  return person?.may_decide ? ['run', 'approve'] : ['run'];
}

/** True if all of it, or what its template inserts, is external. */
function isStrangers({ isCall }: Inbound, { isOwn }: Pick<WaitingMessage, 'isOwn'>): boolean {
  return !isOwn || isCall === true;
}

function spokenText(
  { tokenSecret }: ApiDeps,
  { type }: ChannelRow,
  { text, isForwarded, person: { id } }: Inbound,
  person: Speaker | undefined,
  stem: string,
): Pick<WaitingMessage, 'text' | 'isOwn' | 'marker' | 'source'> {
  return {
    text: text.replaceAll('\0', '').toWellFormed().slice(0, MAX),
    // This also applies to a signed call, whose template marks what is external.
    isOwn: person !== undefined && isForwarded !== true,
    // The same update has the same text, and no author can know its markers.
    marker: createHmac('sha256', tokenSecret).update(stem).digest('hex').slice(0, 32),
    source: `${type}:${id}`,
  };
}

/**
 * Handles an update that came before, if its session or the settings have changed since. What was not accepted then is
 * submitted as it was.
 */
async function handInOld(deps: ApiDeps, tenant: string, message: Submission): Promise<undefined> {
  const old = await findUntaken(forTenant(deps.pool, tenant), message.id);
  if (old) await submitMessage(deps, tenant, { ...message, ...old });
}

/** Messages of one chat whose files are still to be fetched; beyond this, its service sends again later. */
const MAX_WAITING = 10;

/**
 * A worker then fetches the files and submits the message. What it needs is a row among those of its chat, once for
 * each update.
 */
async function waitForFiles(
  deps: ApiDeps,
  tenant: string,
  channel: ChannelRow,
  inbound: Inbound,
  message: Pick<WaitingMessage, 'id' | 'session' | 'text' | 'context' | 'isOwn' | 'marker' | 'source'>,
): Promise<undefined> {
  const db = forTenant(deps.pool, tenant);
  const { key, webhook_id, settings } = channel;
  const { groups = 'mention' } = settings;
  const { id: update, chat, thread, files, person, album } = inbound;
  const { text: scrub } = await deps.secrets.vault.scrubberOf(tenant);
  const { session, context, isOwn, marker, source } = message;
  const brought = {
    text: scrub(message.text),
    files: files.slice(0, MAX_ATTACHMENTS).map(({ source, name, type, size }) => ({
      source: source.slice(0, 4_000),
      name: name && scrub(name).slice(0, 300).toWellFormed(),
      type: type?.slice(0, 200),
      size,
    })),
  };
  const part: AlbumPart = { id: update, isAddressed: isAddressed(inbound, groups), ...brought };
  // Nobody can add to what another person sends, nor another's words to their own.
  const albumId =
    album === undefined
      ? undefined
      : digestOf(tenant, key, 'album', session, person.id, album, String(isOwn));
  const added = albumId && (await addToAlbum(db, `msg_${albumId}`, part));
  if (added === 'added') return;
  const isFirst = albumId !== undefined && added === undefined;
  const remaining = Math.max(0, files.length - MAX_ATTACHMENTS);
  const waiting: WaitingMessage = {
    id: isFirst ? `msg_${digestOf(albumId, 'message')}` : message.id,
    session,
    context,
    isOwn,
    marker,
    source,
    ...(isFirst
      ? { text: '', files: [], left: 0, album: { parts: [part] } }
      : { ...brought, left: remaining }),
  };
  if ((await countWaiting(db, webhook_id, session)) >= MAX_WAITING)
    throw new Failure('QueueFull', `${MAX_WAITING} messages with files wait in ${session} already`);
  const post = { place: { chat, thread }, markdown: '', waiting };
  const row = { id: `msg_${isFirst ? albumId : digestOf(tenant, key, 'files', update)}`, session, post };
  const isNew = await insertDirectPost(db, webhook_id, row, isFirst ? ALBUM_SECONDS : 0);
  // Another part of it has just arrived.
  if (isFirst && !isNew) return waitForFiles(deps, tenant, channel, inbound, message);
  await announceDeliveries(deps.pool);
}

/** One session for each chat, and for each thread or topic of it. */
function sessionOf({ key }: ChannelRow, { session, chat, thread }: Inbound): string {
  const name = session ?? [key, chat, ...(thread === undefined ? [] : [thread])].join(':');
  return isSessionKey(name) ? name : `${key}:${digestOf(name)}`;
}

function digestOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
