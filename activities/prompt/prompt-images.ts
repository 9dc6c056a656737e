/**
 * Which images of a transcript a model sees: those of the newest messages and results, so that they do not fill its
 * window.
 */
import { MAX_IMAGES, type PromptImage, type StoredImage } from '#domain/model/image.ts';
import type { ChatMessage } from '#domain/turn/message.ts';
import type { TurnLedger } from '#store/turns/turn-ledger.ts';
import type { Transcript } from './transcript-cache.ts';

/** By call or message, newest first; for each, all images or none. */
export type ShownImages = ReadonlyMap<string, readonly StoredImage[]>;

export function newestImages({ rows }: Transcript): ShownImages {
  const shown = new Map<string, readonly StoredImage[]>();
  let count = 0;
  for (const { messages } of rows.toReversed()) {
    for (const [id, images] of messages.flatMap(imagesOf).toReversed()) {
      count += images.length;
      if (count > MAX_IMAGES) return shown;
      shown.set(id, images);
    }
  }
  return shown;
}

function imagesOf(message: ChatMessage): (readonly [id: string, images: readonly StoredImage[]])[] {
  if (message.role === 'tool')
    return message.results.flatMap(({ callId, images }) => (images ? [[callId, images]] : []));
  return message.role === 'user' && message.id !== undefined ? [[message.id, message.images ?? []]] : [];
}

/** Undefined when there are none; then it makes no query. */
export async function readImages(
  ledger: Pick<TurnLedger, 'readFiles'>,
  tenant: string,
  shown: ShownImages,
): Promise<ReadonlyMap<string, readonly PromptImage[]> | undefined> {
  if (shown.size === 0) return undefined;
  const digests = [...shown.values()].flatMap((images) => images.map(({ digest }) => digest));
  const files = await ledger.readFiles(tenant, [...new Set(digests)]);
  const withBytes = (image: StoredImage): readonly PromptImage[] => {
    const bytes = files.get(image.digest);
    return bytes ? [{ ...image, bytes }] : [];
  };
  return new Map([...shown].map(([call, images]) => [call, images.flatMap(withBytes)]));
}
