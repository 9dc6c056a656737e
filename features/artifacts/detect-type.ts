/** Detects the type of bytes, because an uploader may state any type. */
import { fileTypeFromBuffer } from 'file-type';

export const UNKNOWN_TYPE = 'application/octet-stream';

/** Bytes that are examined for a text. */
const SNIFFED_BYTES = 65_536;
/** Types whose files are text. */
const TEXTS = /^text\/|\+(?:xml|json)$|^application\/(?:json|xml|javascript|yaml|toml|x-ndjson|x-sh|sql)$/;
/** Kinds that bytes show; bytes that do not show such a kind do not have it. */
const SHOWN = /^(?:image|audio|video|font)\/|^application\/(?:pdf|zip|gzip|epub\+zip|vnd\.|msword)/;
const XML = /^(?:application|text)\/xml$/;
const MEDIA = /^(?:audio|video)\//;

/**
 * The type that the bytes show; for a text the stated one, otherwise `text/plain`. Undefined when the bytes show
 * another type than the stated one.
 */
export async function detectType(bytes: Uint8Array, called = ''): Promise<string | undefined> {
  const text = (/^[\w.+-]+\/[\w.+-]+/.exec(called.trim().toLowerCase())?.[0] ?? '')
    .replace('image/jpg', 'image/jpeg')
    .replace(UNKNOWN_TYPE, '');
  const found = (await fileTypeFromBuffer(bytes))?.mime;
  if (found !== undefined && !XML.test(found)) return fits(text, found) ? found : undefined;
  if (isText(bytes)) {
    if (text === '') return /^\s*<(?:!doctype html|html)\b/i.test(headOf(bytes)) ? 'text/html' : 'text/plain';
    return TEXTS.test(text) ? text : undefined;
  }
  return text === '' || !(SHOWN.test(text) || TEXTS.test(text)) ? UNKNOWN_TYPE : undefined;
}

/** Containers of audio and images have several names, and an office file is also an archive. */
function fits(words: string, found: string): boolean {
  if (words === '' || words === found || (MEDIA.test(words) && MEDIA.test(found))) return true;
  if (words === 'application/zip') return /zip|openxmlformats|opendocument/.test(found);
  return found === 'application/x-cfb' && /^application\/(?:msword|vnd\.ms-)/.test(words);
}

function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, SNIFFED_BYTES);
  if (head.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function headOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, 1_024));
}
