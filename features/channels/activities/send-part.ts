/** One part of a post in a chat: words or a file. */
import type { Attachment } from '#domain/files/attachment.ts';
import type { ChannelPlace, ChannelPost } from '../contract.ts';
import { Failure } from '#domain/errors.ts';
import { markdownText } from '#domain/text/markdown.ts';
import { type ArtifactPlaces, readWhole } from '#features/artifacts/index.ts';
import { EgressError } from '@tempoclaw/egress';
import { ChannelError } from './channel-error.ts';
import type { ChannelSender, SendContext } from './channel-sender.ts';
import { refusalWords } from './visit-service.ts';

export interface SendTarget {
  readonly sender: ChannelSender;
  readonly context: SendContext;
  readonly place: ChannelPlace;
  /** The part's key, which is the same for each attempt. */
  readonly key?: string;
  /** If true, a file that is refused now is given up, because later messages in the chat wait for it. */
  readonly isLast: boolean;
}

export type Part = ChannelPost | Attachment | string;

/** A service that accepts no key for a message gets it twice after a crash; this tells people so. */
const SENT_AGAIN = '(Sent again: whether it arrived before is not known.)';

/**
 * Sends a part that an earlier attempt may have sent; returns its id at the service. @throws ChannelError, EgressError
 */
export async function sendPartAgain(
  places: ArtifactPlaces,
  tenant: string,
  spot: SendTarget,
  part: Part,
): Promise<string> {
  const { sender, context, place } = spot;
  if (sender.isOnceByKey) return sendPart(places, tenant, spot, part);
  const post = typeof part === 'string' ? { markdown: part } : part;
  const marked = 'markdown' in post && { ...post, markdown: `${post.markdown}\n\n${SENT_AGAIN}` };
  if (marked && sender.split(marked).length === 1) return sendPart(places, tenant, spot, marked);
  await sender.send(context, place, { markdown: SENT_AGAIN });
  return sendPart(places, tenant, spot, part);
}

/**
 * Replaces a file that the service refuses with words, so that nothing waits for it. @throws ChannelError, EgressError
 */
export async function sendPart(
  places: ArtifactPlaces,
  tenant: string,
  { sender, context, place, key, isLast }: SendTarget,
  part: Part,
): Promise<string> {
  const say = (markdown: string) => sender.send(context, place, { markdown }, key);
  if (typeof part === 'string') return say(part);
  if ('markdown' in part) return sender.send(context, place, part, key);
  const name = part.name ?? part.artifact;
  if (part.size > sender.maxBytes)
    return say(
      `${markdownText(name)} is not sent: it has more than the ${sender.maxBytes} bytes that are taken here.`,
    );
  const bytes = await readWhole(places, tenant, part).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    // If the store of files is away, that counts as if the service were.
    if (!isLast) throw new ChannelError(error.message, { status: 0 });
    return undefined;
  });
  if (!bytes) return say(`${markdownText(name)} is not sent: it is kept no more.`);
  try {
    return await sender.sendFile(context, place, { name, type: part.type, bytes });
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof ChannelError || error instanceof EgressError)) throw error;
    if (!isLast && !(error instanceof ChannelError && error.refusal.isFinal)) throw error;
    return say(`${markdownText(name)} could not be sent: ${markdownText(refusalWords(error))}`);
  }
}
