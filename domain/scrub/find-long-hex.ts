/** SC-1: 64 or more hex digits are a key unless the text around says digest. */
import type { Redaction } from './redaction.ts';

const MIN_DIGITS = 64;

/** Words that name a digest, as lockfiles, registries and checksum files write them; more may stand between (Homebrew). */
const DIGEST_NAMES = /(?:sha-?\d{1,3}|md5|blake\w*|digest|checksum|integrity)s?\b[^\n]{0,48}$/i;
/** Words that say so only when they stand near, as in the output of git and of container engines. */
const DIGEST_WORDS =
  /(?:sha|hash|etag|commit|revision|rev|tree|blob|object|parent|fingerprint|image|layer|cid|txid|tx|block|merkle|nar_?hash|sum|oid|content[-_]?id|snapshot|manifest|container)s?\b[^\n]{0,24}$/i;
/** `sha256sum` and friends: digits, two spaces (or ` *`), a file name; a comment is none. */
const FILE_AFTER = /^(?: {2}| \*)[^\s*#]/;
/** How a secret's own name would look; it wins over the digest words. */
const SECRET_WORDS =
  /(?:secret|token|passw|private|(?<!public[-_ ]?|cache[-_ ]?)key|master|credential|auth|seed|mnemonic)[\w.-]{0,20}["']?\s{0,3}[:=]{1,2}>?\s{0,3}["']?$/i;

export function findLongHex(text: string, out: Redaction[]): void {
  // Digits that are so many stand at one of these places, wherever they begin: most of the text need not be looked at.
  for (let at = MIN_DIGITS - 1; at < text.length; ) {
    if (!isHex(text.charCodeAt(at))) {
      at += MIN_DIGITS;
      continue;
    }
    let start = at;
    while (isHex(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (isHex(text.charCodeAt(end))) end++;
    if (end - start >= MIN_DIGITS && !isRun(text, start, end)) judge(text, start, end, out);
    at = end + MIN_DIGITS;
  }
}

function judge(text: string, digits: number, end: number, out: Redaction[]): void {
  const start = text.startsWith('0x', digits - 2) ? digits - 2 : digits;
  if (isWord(text.charCodeAt(start - 1)) || isWord(text.charCodeAt(end))) return;
  const before = text.slice(Math.max(0, start - 64), start);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (!SECRET_WORDS.test(line)) {
    if (DIGEST_NAMES.test(line) || DIGEST_WORDS.test(line)) return;
    if (end - start <= 128 && FILE_AFTER.test(text.slice(end, end + 3))) return;
  }
  out.push({ start, end, kind: 'long_hex' });
}

/** One digit over and over: padding, or the digest of nothing. */
function isRun(text: string, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) if (text[at] !== text[start]) return false;
  return true;
}

/** Outside of the text the code is NaN, which is neither. */
function isHex(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
