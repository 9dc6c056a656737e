/** Makes one attempt to send a delivery to a chat service. What is known to have arrived is not sent again. */
import { createHash } from 'node:crypto';
import type { Attachment } from '#domain/files/attachment.ts';
import { type Asking, approvalPost, editedPost, linkWords, outcomePost } from '../rules/approval-post.ts';
import { linkedArtifacts } from '#domain/files/linked-artifacts.ts';
import { SILENT } from '../rules/written-text.ts';
import {
  type ChannelPlace,
  type ChannelPost,
  type DirectPost,
  INBOUND_FILE_BYTES,
  placeOfChat,
} from '../contract.ts';
import { SecretProblem } from '#domain/secret.ts';
import type { OwnLinkDeps } from '#features/approval-links/index.ts';
import { channelLinkMaker } from '../rows.ts';
import { type ApprovalRow, findApproval } from '#store/approvals/approval-store.ts';
import { asAttachment, findArtifacts } from '#features/artifacts/index.ts';
import {
  firstAsking,
  forgetPost,
  type PostRow,
  postsOf,
  postsOfApproval,
  recordPost,
} from '../store/channel-post-store.ts';
import { type ChannelRow, findChannel, placeOfSession } from '../store/channel-store.ts';
import type { DeliveryOutcome } from '#features/webhooks-out/index.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import type { ChannelDelivery } from './channel-delivery.ts';
import { EgressError } from '@tempoclaw/egress';
import { ChannelError } from './channel-error.ts';
import { streamAnswer, finalizeStream } from './stream-answer.ts';
import { type Part, sendPart, sendPartAgain, type SendTarget } from './send-part.ts';
import { isLastTryOfFiles, type TakeDeps, takeMessage } from './take-message.ts';
import { type ChannelDeps, refusalWords, type SendOperation, visitService } from './visit-service.ts';

export type DeliverToChannelDeps = ChannelDeps & TakeDeps & OwnLinkDeps;

/**
 * No further part starts after this time. An attempt has a time limit, and if it exceeded that, the retry would run
 * beside it.
 */
const VISIT_MS = 20_000;
const TAKEN: DeliveryOutcome = { answered: 200, problem: null };
export async function deliverToChannel(
  deps: DeliverToChannelDeps,
  tenant: string,
  delivery: ChannelDelivery,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const channel = await findChannel(forTenant(deps.pool, tenant), delivery.webhook.channel_key ?? '');
  if (!channel) return { answered: null, problem: 'the channel was deleted', isFinal: true };
  const visit = await visitFor(deps, tenant, channel, delivery);
  if (!visit) return { ...TAKEN, isSilent: true };
  const bytes = delivery.post?.waiting ? { bytes: INBOUND_FILE_BYTES } : {};
  try {
    await visitService(deps, tenant, channel, visit, { ...bytes, signal });
    return TAKEN;
  } catch (error) {
    if (error instanceof SecretProblem) return { answered: null, problem: error.message };
    if (!(error instanceof ChannelError || error instanceof EgressError)) throw error;
    const refusal = error instanceof ChannelError ? error.refusal : undefined;
    const problem = refusalWords(error);
    return {
      answered: refusal?.status ?? null,
      problem,
      retryAfter: refusal?.retryAfter,
      isFinal: refusal?.isFinal,
    };
  }
}

/** Returns undefined if there is nothing to say about it. */
async function visitFor(
  deps: DeliverToChannelDeps,
  tenant: string,
  channel: ChannelRow,
  delivery: ChannelDelivery,
): Promise<SendOperation | undefined> {
  const { post, stored, session_key } = delivery;
  if (post?.waiting) return takeMessage(deps, tenant, channel, delivery, { ...post, waiting: post.waiting });
  if (post?.link)
    return postMessage(
      deps,
      tenant,
      channel,
      delivery,
      post.place,
      await linkPost(deps, tenant, channel, post.link),
    );
  if (post) return postMessage(deps, tenant, channel, delivery, post.place, post, post.files);
  if (!stored) return undefined;
  const { type, data } = stored;
  if (type.startsWith('approval.'))
    return aboutApproval(deps, tenant, channel, delivery, String(data['approval_id']));
  const chat = await placeOfSession(forTenant(deps.pool, tenant), channel.key, session_key);
  if (chat === undefined) return undefined;
  const place = placeOfChat(chat);
  const grow = channel.settings.stream
    ? streamAnswer(deps, tenant, channel.key, delivery, place)
    : () => Promise.resolve();
  if (type === 'turn.started')
    return async (sender, context) => {
      // The typing indicator is only useful at once, so it is not retried.
      await sender.typing?.(context, place).catch(ignoreRefusal);
      await grow(sender, context);
    };
  const markdown = type === 'turn.failed' ? failureWords(data) : String(data['text'] ?? '').trim();
  if (markdown === '' || SILENT.has(markdown)) return undefined;
  const named = linkedArtifacts(markdown);
  const files = await filesOf(deps, tenant, delivery.user, named.ids);
  const say = await postMessage(deps, tenant, channel, delivery, place, named, files);
  return async (sender, context) => {
    await say(sender, context);
    if (type === 'message.completed') await grow(sender, context);
  };
}

async function linkPost(
  deps: DeliverToChannelDeps,
  tenant: string,
  { key, webhook_id: webhook }: ChannelRow,
  { approval: id, user }: NonNullable<DirectPost['link']>,
): Promise<ChannelPost> {
  const approval = await findApproval(forTenant(deps.pool, tenant), id);
  const wish = approval && { webhook, approval, user, createdBy: channelLinkMaker(key) };
  const link = wish && (await deps.ownLink()?.(tenant, wish));
  return { markdown: linkWords(link) };
}

/** The files that the user may read; for the others, words. */
async function filesOf(
  { pool }: DeliverToChannelDeps,
  tenant: string,
  user: string | null,
  ids: readonly string[],
): Promise<readonly (Attachment | string)[]> {
  if (ids.length === 0) return [];
  const rows = await findArtifacts(forTenant(pool, tenant), ids, user);
  return ids.map((id) => {
    const row = rows.find((one) => one.id === id);
    return row ? asAttachment(row) : `There is no artifact:${id}.`;
  });
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ChannelError || error instanceof EgressError)) throw error;
}

function failureWords(data: Readonly<Record<string, unknown>>): string {
  const { message } = (data['error'] ?? {}) as { readonly message?: unknown };
  return `This went wrong: ${typeof message === 'string' ? message : 'the turn failed'}`;
}

/**
 * Sends parts from the first one that is not known to have arrived. A row records that a part is being sent. After a
 * crash in between, a part that may have arrived is sent again with words that say so, unless the service recognizes
 * its key. All parts of a question are about the same call; if it was edited, the question starts from the beginning.
 */
async function postMessage(
  deps: DeliverToChannelDeps,
  tenant: string,
  channel: ChannelRow,
  delivery: ChannelDelivery,
  place: ChannelPlace,
  post: ChannelPost,
  files: readonly (Attachment | string)[] = [],
  request?: { readonly approval_id: string; readonly digest: string },
): Promise<SendOperation> {
  const db = forTenant(deps.pool, tenant);
  const { id } = delivery;
  // Only the turn's own answer, or its failure, may replace the growing message.
  const mayTake = channel.settings.stream && !request && !delivery.post;
  const digest = request?.digest ?? null;
  const isLast = isLastTryOfFiles(delivery);
  const posts = await postsOf(db, id);
  const ofThis = posts.filter((post) => post.digest === digest);
  const arrived = ofThis.filter(({ message_id }) => message_id !== SENDING).length;
  const startedAt = ofThis.find(({ message_id }) => message_id === SENDING)?.part;
  return async (sender, context) => {
    const words = post.markdown === '' && files.length > 0 ? [] : sender.split(post);
    const parts = [...words, ...files];
    const until = performance.now() + VISIT_MS;
    for (const [part, one] of parts.entries()) {
      if (part < arrived) continue;
      if (performance.now() > until)
        throw new ChannelError(`${part} of ${parts.length} parts have arrived`, {
          status: 200,
          retryAfter: 1_000,
        });
      const key = createHash('sha256')
        .update(`${tenant}\n${id}\n${part}\n${digest}`)
        .digest('hex')
        .slice(0, 25);
      const spot = { sender, context, place, key, isLast };
      const first = mayTake && part === 0 ? words[0] : undefined;
      if (first && (await finalizeStream(deps, tenant, channel.key, delivery, spot, first))) continue;
      const row = { delivery_id: id, part, channel_key: channel.key, place, digest };
      await recordPost(db, { ...row, message_id: SENDING, approval_id: null });
      const message_id = await sendNoted(deps, tenant, spot, one, { row, isAgain: part === startedAt });
      const approval_id = (part === parts.length - 1 ? request?.approval_id : undefined) ?? null;
      await recordPost(db, { ...row, message_id, approval_id });
    }
  };
}

/** Stands for a message's id, from before it is sent until its service has answered. */
const SENDING = '';

/** A part that the service certainly refused is sent again without the mark. */
async function sendNoted(
  deps: DeliverToChannelDeps,
  tenant: string,
  spot: SendTarget,
  part: Part,
  { row, isAgain }: { readonly row: Pick<PostRow, 'delivery_id' | 'part'>; readonly isAgain: boolean },
): Promise<string> {
  try {
    return await (isAgain ? sendPartAgain : sendPart)(deps, tenant, spot, part);
  } catch (error) {
    const wasRefused =
      error instanceof ChannelError && error.refusal.status > 0 && error.refusal.status < 500;
    if (wasRefused && !isAgain) await forgetPost(forTenant(deps.pool, tenant), row);
    throw error;
  }
}

/**
 * A channel asks about an approval once, however many of its feeds have it; later events change the message that asked.
 */
async function aboutApproval(
  deps: DeliverToChannelDeps,
  tenant: string,
  channel: ChannelRow,
  delivery: ChannelDelivery,
  id: string,
): Promise<SendOperation | undefined> {
  const db = forTenant(deps.pool, tenant);
  const approval = await findApproval(db, id);
  if (!approval) return undefined;
  const posts = await postsOfApproval(db, channel.key, id);
  if (delivery.event === 'approval.requested') {
    // People cannot run what a program of the sender runs.
    if (posts.length > 0 || approval.status !== 'pending' || approval.terms.client_tool) return undefined;
    // A subagent's request is also in the feeds above it.
    if ((await firstAsking(db, delivery, id)) !== delivery.id) return undefined;
    const place = await approvalPlace(deps, tenant, channel, delivery.session_key);
    const request = { approval_id: id, digest: approval.digest };
    return (
      place &&
      postMessage(
        deps,
        tenant,
        channel,
        delivery,
        place,
        approvalPost(approval, askingOf(deps, delivery.id), new Date()),
        [],
        request,
      )
    );
  }
  return async (sender, context) => {
    for (const post of posts) {
      const shown = approvalPostNow(deps, approval, post, (one) => sender.split(one).length);
      const part = shown && sender.split(shown).at(-1);
      if (part) await sender.edit(context, post.place, post.message_id, part);
    }
  };
}

/**
 * The new text of the message with the buttons; undefined if it does not change. Its earlier parts stay as they are.
 */
function approvalPostNow(
  deps: DeliverToChannelDeps,
  approval: ApprovalRow,
  { delivery_id: delivery, part, digest }: PostRow,
  partsOf: (post: ChannelPost) => number,
): ChannelPost | undefined {
  if (approval.status !== 'pending') return outcomePost(approval);
  if (approval.digest !== digest) return editedPost(approval, askingOf(deps, delivery));
  const post = approvalPost(approval, askingOf(deps, delivery), new Date());
  return partsOf(post) === part + 1 ? post : undefined;
}

function askingOf({ ownLink }: OwnLinkDeps, delivery: string): Asking {
  return { delivery, hasLinks: ownLink() !== undefined };
}

/** The chat that the approval is about, unless the channel has another place for questions. */
async function approvalPlace(
  { pool }: DeliverToChannelDeps,
  tenant: string,
  { key, settings }: ChannelRow,
  session: string,
): Promise<ChannelPlace | undefined> {
  if (settings.approvals_to) return settings.approvals_to;
  const chat = await placeOfSession(forTenant(pool, tenant), key, session);
  return chat === undefined ? undefined : placeOfChat(chat);
}
