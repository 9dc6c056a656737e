/** The images of a result as they are stored, and the text in their place, which every model reads. */
import { createHash } from 'node:crypto';
import { imageProblem, MAX_IMAGES, readImage } from '#domain/model/image.ts';
import type { Scrubber } from '#store/secrets/scrubber.ts';
import type { NewImage } from '#store/turns/turn-ledger.ts';

export interface ShownImages {
  readonly images?: readonly NewImage[];
  readonly lines: readonly string[];
}

/** Pixels cannot be scrubbed; a file with a secret in its bytes, such as its comments, is left out. */
export function shownImages(
  { text: scrub }: Pick<Scrubber, 'text'>,
  id: string,
  values: readonly Uint8Array[],
): ShownImages {
  const images: NewImage[] = [];
  const lines = values.slice(0, MAX_IMAGES).map((bytes) => {
    const facts = readImage(bytes);
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const problem = imageProblem(facts, bytes.length) ?? secretProblem(scrub, buffer);
    if (!facts || problem !== undefined) return `[an image is left out: ${problem}]`;
    const digest = createHash('sha256').update(bytes).digest('hex');
    images.push({ ...facts, digest, size: bytes.length, data: buffer.toString('base64') });
    const { type, width, height } = facts;
    return `[image: ${type}, ${width}x${height} pixels, /v1/tool-calls/${id}/images/${images.length}]`;
  });
  if (values.length > MAX_IMAGES) lines.push(`[${values.length - MAX_IMAGES} more images are left out]`);
  return { ...(images.length > 0 ? { images } : {}), lines };
}

function secretProblem(scrub: Scrubber['text'], bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1');
  return scrub(text) === text ? undefined : 'its bytes hold a secret';
}
