/**
 * Handles a message with files: each is fetched and stored as an artifact, with a row that says so, and then the
 * message is submitted. A repeat fetches what is missing, and submits the same message.
 */
import type { DeliveryBasis } from '#features/webhooks-out/index.ts';
import { type Attachment, attachmentLine } from '#domain/files/attachment.ts';
import { messageText } from '../rules/message-text.ts';
import {
  type ChannelPlace,
  type DirectPost,
  INBOUND_FILE_BYTES,
  type InboundFile,
  type WaitingMessage,
} from '../contract.ts';
import { Failure } from '#domain/errors.ts';
import { markdownText } from '#domain/text/markdown.ts';
import {
  type ArtifactPlaces,
  asAttachment,
  findArtifacts,
  type NewArtifact,
  putArtifact,
} from '#features/artifacts/index.ts';
import { closeAlbum, insertDirectPost, postsOf, recordPost } from '../store/channel-post-store.ts';
import { type ChannelRow } from '../store/channel-store.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import { findSession } from '#store/turns/session-store.ts';
import { EgressError } from '@tempoclaw/egress';
import type { SendSystemMessage } from '#activities/turn/send-system-message.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { ChannelError } from './channel-error.ts';
import type { ChannelSender, SendContext } from './channel-sender.ts';
import { refusalWords, type SendOperation } from './visit-service.ts';

export interface TakeDeps extends ArtifactPlaces {
  readonly wake: SendSystemMessage;
  readonly scrubberOf: (tenant: string) => Promise<Scrubber>;
}

/**
 * Attempts, which take some minutes. The words are more urgent than the files, and later messages in the chat wait for
 * them.
 */
const TRIES = 8;
/** Bytes of all strangers' files of a channel. */
const STRANGERS_BYTES = 1024 ** 3;
/** No further file starts after this time in one attempt. */
const VISIT_MS = 20_000;

/** If true, files that cannot be fetched now are omitted. A wait that the service requested does not count as a try. */
export function isLastTryOfFiles({ attempts, waits }: DeliveryBasis): boolean {
  return attempts - waits + 1 >= TRIES;
}

interface Refused {
  readonly name: string;
  readonly why: string;
}

export function takeMessage(
  deps: TakeDeps,
  tenant: string,
  channel: ChannelRow,
  delivery: DeliveryBasis,
  { place, waiting: message }: DirectPost & { readonly waiting: WaitingMessage },
): SendOperation {
  const db = forTenant(deps.pool, tenant);
  return async (sender, context) => {
    const waiting = message.album ? ((await closeAlbum(db, delivery.id)) ?? message) : message;
    const { files, left } = waiting;
    const isLast = isLastTryOfFiles(delivery);
    const posts = await postsOf(db, delivery.id);
    const kept = new Map(posts.map(({ part, message_id }) => [part, message_id]));
    const refused: Refused[] = [];
    const until = performance.now() + VISIT_MS;
    for (const [part, file] of files.entries()) {
      if (kept.has(part)) continue;
      if (performance.now() > until)
        throw new ChannelError('more files are to come', { status: 200, retryAfter: 1_000 });
      const taken = await takeFile(deps, tenant, channel, waiting, { file, sender, context, isLast });
      if (typeof taken === 'string') {
        const row = { delivery_id: delivery.id, part, channel_key: channel.key, message_id: taken };
        await recordPost(db, {
          ...row,
          place,
          approval_id: null,
          digest: null,
        });
        kept.set(part, taken);
      } else refused.push(taken);
    }
    if (left > 0) refused.push({ name: `${left} more`, why: `a message has at most ${files.length} files` });
    const ids = [...kept].toSorted(([one], [other]) => one - other).map(([, id]) => id);
    if (refused.length > 0) await postRefused(deps, tenant, channel, delivery, place, refused);
    if (ids.length > 0 || waiting.text.trim() !== '')
      await submit(deps, tenant, channel, { delivery, place, waiting }, ids, refused);
  };
}

interface FileRequest {
  readonly file: InboundFile;
  readonly sender: ChannelSender;
  readonly context: SendContext;
  readonly isLast: boolean;
}

/** Returns the artifact's id, or why there is none. @throws errors for which a retry may help */
async function takeFile(
  deps: TakeDeps,
  tenant: string,
  { key }: ChannelRow,
  { context }: WaitingMessage,
  { file, sender, context: service, isLast }: FileRequest,
): Promise<string | Refused> {
  const name = file.name ?? 'the file';
  const tooLarge = { name, why: `it has more than ${INBOUND_FILE_BYTES / 1_000_000} MB` };
  if ((file.size ?? 0) > INBOUND_FILE_BYTES) return tooLarge;
  try {
    const bytes = await sender.fetchFile(service, file);
    return await keep(deps, tenant, { bytes, ...ownerOf(context.user, key) }, file);
  } catch (error) {
    service.signal.throwIfAborted();
    if (error instanceof EgressError && error.rule === 'too_large') return tooLarge;
    if (error instanceof Failure && error.type !== 'Unavailable') return { name, why: error.message };
    if (!(error instanceof ChannelError || error instanceof EgressError)) throw error;
    const isFinal = error instanceof ChannelError && error.refusal.isFinal === true;
    if (isFinal || isLast) return { name, why: refusalWords(error) };
    throw error;
  }
}

/** People that nobody has paired share the space for strangers. */
function ownerOf(user: string | undefined, channel: string): Pick<NewArtifact, 'user' | 'within'> {
  const strangers = `${channel}:`;
  if (!user?.startsWith(strangers)) return { user: user ?? null };
  return { user, within: { users: strangers, bytes: STRANGERS_BYTES } };
}

/**
 * Also stores a file that is not of the type that the sender's program claims. The same bytes are the same artifact.
 * @throws Failure
 */
async function keep(
  deps: TakeDeps,
  tenant: string,
  brought: Pick<NewArtifact, 'bytes' | 'user' | 'within'>,
  { name: filename, type }: InboundFile,
): Promise<string> {
  const { text: scrub } = await deps.scrubberOf(tenant);
  const input = { ...brought, filename, hasSecret: (text: string) => scrub(text) !== text };
  const put = (called: string | undefined) => putArtifact(deps, tenant, { ...input, type: called });
  const row = await put(type).catch((error: unknown) => {
    if (!(error instanceof Failure && error.type === 'Unprocessable')) throw error;
    return put(undefined);
  });
  return row.id;
}

/** Reports missing files to the sender, as to the model. Runs once for each message. */
async function postRefused(
  { pool }: TakeDeps,
  tenant: string,
  { webhook_id }: ChannelRow,
  { id, session_key: session }: DeliveryBasis,
  place: ChannelPlace,
  refused: readonly Refused[],
): Promise<void> {
  const lines = refused.map(({ name, why }) => `- ${markdownText(name)}: ${markdownText(why)}`);
  const markdown = ['I could not take:', ...lines].join('\n');
  await insertDirectPost(forTenant(pool, tenant), webhook_id, {
    id: `${id}.left`,
    session,
    post: { place, markdown },
  });
}

interface Taken {
  readonly delivery: DeliveryBasis;
  readonly place: ChannelPlace;
  readonly waiting: WaitingMessage;
}

/** Failures that a retry would not change are reported to the sender. @throws Failure Unavailable, QueueFull */
async function submit(
  { pool, wake }: TakeDeps,
  tenant: string,
  { agent_key, webhook_id }: ChannelRow,
  { delivery, place, waiting }: Taken,
  ids: readonly string[],
  refused: readonly Refused[],
): Promise<void> {
  const db = forTenant(pool, tenant);
  const { id: messageId, session, context } = waiting;
  const rows = await findArtifacts(db, ids, context.user ?? null);
  const attachments: Attachment[] = ids.flatMap((id) =>
    rows.filter((row) => row.id === id).map(asAttachment),
  );
  const lines = [
    ...attachments.map(attachmentLine),
    ...refused.map(({ name, why }) => `[sent along, but not taken: ${name}: ${why}]`),
  ];
  // A session that already exists stays with its agent.
  const agent = (await findSession(db, session)) ? undefined : agent_key;
  try {
    const text = messageText(waiting, lines.join('\n'));
    const { isOwn } = waiting;
    await wake({ tenant, session, messageId, text, mode: 'queue', context, agent, attachments, isOwn });
  } catch (error) {
    if (!(error instanceof Failure) || error.type === 'Unavailable' || error.type === 'QueueFull')
      throw error;
    const markdown = `That was not taken: ${markdownText(error.message)}`;
    const id = `${delivery.id}.lost`;
    await insertDirectPost(db, webhook_id, { id, session, post: { place, markdown } });
    throw new ChannelError(error.message, { status: 0, isFinal: true });
  }
}
