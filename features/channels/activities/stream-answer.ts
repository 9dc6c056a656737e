/** Shows an answer while it is written: one message of the chat grows by edits, until the next message is due there. */
import type { DeliveryBasis } from '#features/webhooks-out/index.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { linkedArtifacts } from '#domain/files/linked-artifacts.ts';
import { isWorthShowing, readPieces, type WrittenText } from '../rules/written-text.ts';
import type { ChannelPlace, ChannelPost } from '../contract.ts';
import { recordPost } from '../store/channel-post-store.ts';
import { readEvents } from '#store/event-store.ts';
import { forTenant } from '#store/postgres/tenant-db.ts';
import { findGrowing, GROWING, mayGrow, takeGrowing } from '../store/growing-post-store.ts';
import { ChannelError } from './channel-error.ts';
import type { ChannelSender } from './channel-sender.ts';
import type { SendTarget } from './send-part.ts';
import type { ChannelDeps, SendOperation } from './visit-service.ts';

/** Slack accepts 50 changes a minute. An answer that takes less time than this comes whole. */
const EDIT_MS = 1_200;
/** Milliseconds between two checks of the answer, and so the longest delay of the whole answer. */
const LOOK_MS = 250;
/** Milliseconds from the beginning of an attempt, which has a little longer. */
const GROW_MS = 90_000;
/** Time limit of a request, so that a slow service does not delay the whole answer. */
const REQUEST_MS = 5_000;
const EVENTS = 500;

/**
 * Reserves the chat while the turn's next answer is written. Deliveries to a chat come one after the other, so nothing
 * else changes the message. An attempt that follows a lost one continues with its message.
 */
export function streamAnswer(
  deps: Pick<ChannelDeps, 'pool'>,
  tenant: string,
  channel: string,
  delivery: DeliveryBasis,
  place: ChannelPlace,
): SendOperation {
  const until = performance.now() + GROW_MS;
  return async (sender, context) => {
    try {
      await grow(deps, tenant, channel, delivery, { sender, context, place }, until);
    } catch {
      // The service or Postgres failed. The whole answer has a delivery of its own, which is retried. A cancelled
      // attempt stops.
      context.signal.throwIfAborted();
    }
  };
}

async function grow(
  { pool }: Pick<ChannelDeps, 'pool'>,
  tenant: string,
  channel: string,
  delivery: DeliveryBasis,
  { sender, context, place }: Omit<SendTarget, 'isLast'>,
  until: number,
): Promise<void> {
  const db = forTenant(pool, tenant);
  const { id, session_key, stored } = delivery;
  const turn = stored?.turn_id;
  if (!stored || turn === undefined) return;
  let written: WrittenText = { last: stored.id, text: '', origin: '', isOver: false };
  let shown = { text: '', at: 0 };
  let message = (await findGrowing(db, channel, delivery))?.message_id;
  while (performance.now() < until) {
    written = readPieces(written, await readEvents(db, session_key, written.last, EVENTS), turn);
    if (written.isOver || !(await mayGrow(db, delivery))) return;
    const part = partOf(sender, written.text);
    const now = performance.now();
    if (part && shown.at === 0) shown = { text: '', at: now };
    if (part && part.markdown !== shown.text && now - shown.at >= EDIT_MS) {
      const signal = AbortSignal.any([context.signal, AbortSignal.timeout(REQUEST_MS)]);
      const request = { ...context, signal };
      if (message === undefined) {
        message = await sender.send(request, place, part);
        const row = { delivery_id: id, part: GROWING, channel_key: channel, message_id: message, place };
        await recordPost(db, { ...row, approval_id: null, digest: null });
      } else if (!(await sender.edit(request, place, message, part))) return;
      shown = { text: part.markdown, at: performance.now() };
    }
    await sleep(LOOK_MS, undefined, { signal: context.signal });
  }
}

/** As much as fits into one message. */
function partOf(sender: ChannelSender, text: string): ChannelPost | undefined {
  return isWorthShowing(text) ? sender.split({ markdown: linkedArtifacts(text).markdown })[0] : undefined;
}

/**
 * Replaces the message that has grown with the first part of the post. Returns false if there is none any more. @throws
 * ChannelError, EgressError
 */
export async function finalizeStream(
  { pool }: Pick<ChannelDeps, 'pool'>,
  tenant: string,
  channel: string,
  delivery: DeliveryBasis,
  { sender, context, place }: Omit<SendTarget, 'isLast'>,
  part: ChannelPost,
): Promise<boolean> {
  const db = forTenant(pool, tenant);
  const grown = await findGrowing(db, channel, delivery);
  if (!grown) return false;
  try {
    if (!(await sender.edit(context, place, grown.message_id, part))) return false;
  } catch (error) {
    if (!(error instanceof ChannelError && error.refusal.isFinal)) throw error;
    return false;
  }
  await takeGrowing(db, grown, delivery.id);
  return true;
}
