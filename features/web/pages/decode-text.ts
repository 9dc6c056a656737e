/** Decodes bytes of the web as text, by what they declare (Encoding Standard; HTML standard, encoding sniffing). */

import { TextDecoder } from 'node:util';

/** Bytes of a page in which it may declare its encoding. */
const DECLARED_WITHIN = 4_096;

/** `contentType` is the header. Without a known declaration, bytes are UTF-8 if they are valid, else windows-1252. */
export function decodeText(bytes: Uint8Array, contentType: string): string {
  const decoder = byMark(bytes) ?? byName(charsetOf(contentType)) ?? byName(declaredIn(bytes));
  return (decoder ?? new TextDecoder(isUtf8(bytes) ? 'utf-8' : 'windows-1252')).decode(bytes);
}

function byMark([first, second, third]: Uint8Array): TextDecoder | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return new TextDecoder('utf-8');
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return first === 0xfe && second === 0xff ? new TextDecoder('utf-16be') : undefined;
}

function byName(name: string | undefined): TextDecoder | undefined {
  if (name === undefined) return undefined;
  try {
    return new TextDecoder(name);
  } catch {
    return undefined;
  }
}

function charsetOf(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([\w:.-]{1,40})/i.exec(contentType)?.[1];
}

function declaredIn(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, DECLARED_WITHIN));
  const [, name] =
    /<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([\w:.-]{1,40})/i.exec(head) ??
    /^<\?xml[^>]{0,100}encoding\s*=\s*["']([\w:.-]{1,40})/i.exec(head) ??
    [];
  // A page that could be read up to here is no UTF-16, whatever it declares.
  return name !== undefined && /^utf-?16/i.test(name) ? 'utf-8' : name;
}

/** A cut in the middle of its last character does not mean another encoding. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

export type ContentKind = 'html' | 'json' | 'pdf' | 'text' | 'binary';

const TEXTS =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|javascript|ecmascript|yaml|x-yaml|toml|x-sh|x-ndjson|ndjson|jsonl|graphql|sql|x-www-form-urlencoded|x-tex|x-latex|rtf)|image\/svg\+xml|message\/)/;

const SNIFFED = 4_096;

/** Counts the binary data bytes of the MIME Sniffing standard: more than slightly damaged text has. */
function isBinary(head: Uint8Array): boolean {
  if (byMark(head) !== undefined) return false;
  let count = 0;
  for (const byte of head) if (byte < 9 || byte === 11 || (byte > 13 && byte < 32 && byte !== 27)) count += 1;
  return count >= 4 && count * 100 > head.length;
}

/**
 * Detects what the bytes are. Bytes that are declared as text but are none are binary; without a declaration, the bytes
 * decide.
 */
export function kindOf(contentType: string, bytes: Uint8Array): ContentKind {
  const type = /^[^;\s]*/.exec(contentType.trim().toLowerCase())?.[0] ?? '';
  const charset = charsetOf(contentType);
  const head = bytes.subarray(0, SNIFFED);
  const start = new TextDecoder('windows-1252').decode(head.subarray(0, 1_024)).trimStart();
  if (type === 'application/pdf' || start.startsWith('%PDF-')) return 'pdf';
  if (isBinary(head) && !/^utf-?16/i.test(charset ?? '')) return 'binary';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (/^application\/(?:[\w.-]+\+)?json$|^text\/json$/.test(type)) return 'json';
  if (TEXTS.test(type)) return 'text';
  if (!/^(?:|application\/octet-stream|unknown\/unknown)$/.test(type)) return 'binary';
  return /^<(?:!doctype html|html|head|body)\b/i.test(start) ? 'html' : 'text';
}
