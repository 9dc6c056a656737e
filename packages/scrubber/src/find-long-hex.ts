/** 64 or more hex digits are a key, unless the surrounding text indicates a digest. */
import type { Redaction } from './redaction.ts';

/** Not part of a longer word. */
const LONG_HEX = /(?<![0-9A-Za-z])(?:0x)?[0-9a-fA-F]{64,}(?![0-9A-Za-z])/g;
/** One repeated digit: padding, or the digest of nothing. */
const RUN = /^(?:0x)?(.)\1*$/;

/** Words that name a digest in lockfiles, registries and checksum files; more may follow (Homebrew). */
const DIGEST_NAMES = /(?:sha-?\d{1,3}|md5|blake\w*|digest|checksum|integrity)s?\b[^\n]{0,48}$/i;
/** Words that indicate a digest only nearby, as in the output of git and of container engines. */
const DIGEST_WORDS =
  /(?:sha|hash|etag|commit|revision|rev|tree|blob|object|parent|fingerprint|image|layer|cid|txid|tx|block|merkle|nar_?hash|sum|oid|content[-_]?id|snapshot|manifest|container)s?\b[^\n]{0,24}$/i;
/** The ids of containers in commands about them, and in the output of `inspect`. */
const CONTAINER_IDS =
  /\b(?:docker|podman|nerdctl) (?:attach|cp|exec|inspect|kill|logs|pause|port|restart|rmi?|start|stop|top|unpause|wait)\b[^\n]{0,24}$|(?:^|[\s{,])["']?Id["']?: ?["']?$/;
/** What follows a digest: the ref of `git ls-remote`, or a comment that names it. */
const DIGEST_AFTER = /^(?:\t(?:HEAD|refs\/)|["']?,? {0,4}(?:#|\/\/) ?(?:sha-?\d{1,3}|digest|checksum)\b)/i;
/** `sha256sum` and similar: digits, two spaces (or ` *`), a file name, but not a comment. */
const FILE_AFTER = /^(?: {2}| \*)[^\s*#]/;
/** The form of a secret's own name, which takes precedence over the digest words. */
const SECRET_WORDS =
  /(?:secret|token|passw|private|(?<!public[-_ ]?|cache[-_ ]?)key|master|credential|auth|seed|mnemonic)[\w.-]{0,20}["']?\s{0,3}[:=]{1,2}>?\s{0,3}["']?$/i;

export function findLongHex(text: string, out: Redaction[]): void {
  for (const { index: start, 0: digits } of text.matchAll(LONG_HEX)) {
    const end = start + digits.length;
    if (!RUN.test(digits) && !isDigest(text, start, end)) out.push({ start, end, kind: 'long_hex' });
  }
}

function isDigest(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 64), start);
  const line = before.slice(before.lastIndexOf('\n') + 1);
  if (SECRET_WORDS.test(line)) return false;
  if (DIGEST_NAMES.test(line) || DIGEST_WORDS.test(line) || CONTAINER_IDS.test(line)) return true;
  if (DIGEST_AFTER.test(text.slice(end, end + 24))) return true;
  return end - start <= 128 && FILE_AFTER.test(text.slice(end, end + 3));
}
