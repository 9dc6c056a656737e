/** Images that people and tools pass to models: their types by their bytes, which may be shown, and what they cost. */

export interface ImageFacts {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** An image as a call's row describes it; `files` contains its bytes by their SHA-256. */
export interface StoredImage extends ImageFacts {
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

export interface PromptImage extends ImageFacts {
  readonly bytes: Uint8Array;
}

/** A PDF for models that read PDFs as they see images. */
export interface PromptPdf {
  readonly type: 'application/pdf';
  readonly bytes: Uint8Array;
  readonly pages: number;
}

/** Greatest number of images of a result, and of a prompt, which contains the newest. */
export const MAX_IMAGES = 4;
/** Stays below Anthropic's limit of 5 MB in base64; a screenshot of a browser window is never larger. */
export const IMAGE_BYTES = 3 * 1024 * 1024;
/** Greatest number of pixels of a side (Anthropic's limit). */
const IMAGE_SIDE = 8000;

/**
 * Type and size from the image's header (PNG 11.2.1, JPEG B.2.2, GIF89a 18, WebP container); undefined for any other
 * format.
 */
export function readImage(bytes: Uint8Array): ImageFacts | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 30) return undefined;
  const start = String.fromCharCode(...bytes.subarray(0, 16));
  if (start.startsWith('\x89PNG\r\n\x1a\n') && start.endsWith('IHDR'))
    return { type: 'image/png', width: view.getUint32(16), height: view.getUint32(20) };
  if (/^GIF8[79]a/.test(start))
    return { type: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) };
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return webp(view);
  return start.startsWith('\xff\xd8\xff') ? jpeg(view) : undefined;
}

function webp(view: DataView): ImageFacts | undefined {
  const type = 'image/webp';
  switch (view.getUint32(12)) {
    case 0x56503858: // VP8X: 24 bits each, less one
      return {
        type,
        width: (view.getUint32(24, true) & 0xffffff) + 1,
        height: (view.getUint32(26, true) >>> 8) + 1,
      };
    case 0x5650384c: {
      // VP8L: 14 bits each, less one
      const bits = view.getUint32(21, true);
      return { type, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503820: // VP8
      return { type, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    default:
      return undefined;
  }
}

/** Skips from segment to segment up to the frame's header. */
function jpeg(view: DataView): ImageFacts | undefined {
  for (let at = 2; at + 9 < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const mark = view.getUint16(at);
    const isFrame = mark >= 0xffc0 && mark <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(mark);
    if (isFrame) return { type: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    if (mark < 0xffc0 || mark === 0xffda) return undefined;
  }
  return undefined;
}

/** Says why no model may see the image; undefined when models may. */
export function imageProblem(facts: ImageFacts | undefined, size: number): string | undefined {
  if (!facts) return 'it is no PNG, JPEG, GIF or WebP';
  if (size > IMAGE_BYTES) return `it has ${size} bytes, more than ${IMAGE_BYTES}`;
  const { width, height } = facts;
  if (Math.min(width, height) < 1 || Math.max(width, height) > IMAGE_SIDE)
    return `it has ${width}x${height} pixels, more than ${IMAGE_SIDE} on a side or none`;
  return undefined;
}

/** Providers scale larger images down to this first. */
const MAX_TOKENS = 1_600;

/** An estimate: 750 pixels per token (Anthropic's vision guide); other providers count fewer tokens. */
export function imageTokens(
  images: readonly (Pick<ImageFacts, 'width' | 'height'> | Pick<PromptPdf, 'pages'>)[],
): number {
  const tokensOf = (one: (typeof images)[number]): number =>
    'pages' in one ? one.pages * MAX_TOKENS : Math.min(Math.ceil((one.width * one.height) / 750), MAX_TOKENS);
  return images.reduce((sum, one) => sum + tokensOf(one), 0);
}
