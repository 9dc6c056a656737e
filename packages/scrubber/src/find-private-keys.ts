/** Private key blocks (PEM, OpenSSH, PGP, PuTTY): whole, cut at the end, or cut at the start. */
import type { Redaction } from './redaction.ts';

/** The form with four dashes and blanks is ssh.com's. */
const HEADER =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----/g;
const FOOTER =
  /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- END SSH2 (?:ENCRYPTED )?PRIVATE KEY ----/g;
const PUTTY = /(?<=^Private-Lines: \d{1,4}\r?\n)(?:[A-Za-z0-9+/=]{1,80}\r?\n?){1,200}/gm;
/**
 * A key's body and its headers; `\n` written as two characters counts, because JSON contains keys in this form. A line may
 * start with the mark of a quotation, a comment or a line number.
 */
const BODY =
  /(?:[A-Za-z0-9+/=]|[\r\n \t]|\\[nr]|(?<=[\r\n][ \t]{0,8})[>|#*-]{1,2} |(?<=[\r\n][ \t]{0,8}\d{1,6})[:|]|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\r\n\\]{0,120})*/y;
/** A line of a key. Without one, a header followed by more text is a sentence about keys. */
const KEY_LINE = /[A-Za-z0-9+/=]{16}/;
/** The shortest key in use (Ed25519) has 64 characters. */
const MIN_KEY = 40;
/** Larger than any key in use (RSA 16384 is 13 KB). */
const MAX_BLOCK = 65_536;

export function findPrivateKeys(text: string, out: Redaction[]): void {
  if (text.includes('Private-Lines:'))
    for (const match of text.matchAll(PUTTY))
      out.push({ start: match.index, end: match.index + match[0].length, kind: 'private_key' });
  if (!text.includes('PRIVATE KEY')) return;
  const footers = [...text.matchAll(FOOTER)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  let next = 0;
  let covered = 0;
  for (const header of text.matchAll(HEADER)) {
    if (header.index < covered) continue;
    const body = header.index + header[0].length;
    while (next < footers.length && (footers[next] as { start: number }).start < body) next++;
    const end = endOfBlock(text, body, footers[next]);
    if (end === undefined) continue;
    out.push({ start: header.index, end, kind: 'private_key' });
    covered = end;
  }
  for (const footer of footers) {
    const start = bodyBefore(text, footer.start);
    if (start < footer.start) out.push({ start, end: footer.end, kind: 'private_key' });
  }
}

/** Undefined when the header at `body` starts no key. */
function endOfBlock(
  text: string,
  body: number,
  footer: { readonly start: number; readonly end: number } | undefined,
): number | undefined {
  if (footer && footer.start - body <= MAX_BLOCK) {
    const isKey = footer.start - body >= MIN_KEY || KEY_LINE.test(text.slice(body, footer.start));
    return isKey ? footer.end : undefined;
  }
  BODY.lastIndex = body;
  const found = BODY.exec(text)?.[0] ?? '';
  // A key that is cut soon after its header has no whole line.
  const isKey = body + found.length === text.length || KEY_LINE.test(found);
  return isKey ? body + found.trimEnd().length : undefined;
}

/** Start of the base64 lines that end at `end`: a key whose first line was cut off. */
function bodyBefore(text: string, end: number): number {
  let start = end;
  while (end - start < MAX_BLOCK) {
    const lineEnd = start - 1;
    if (lineEnd < 0 || text[lineEnd] !== '\n') return start;
    const lineStart = text.lastIndexOf('\n', lineEnd - 1) + 1;
    if (lineEnd - lineStart > 200 || !/^[A-Za-z0-9+/=]{4,}\r?$/.test(text.slice(lineStart, lineEnd)))
      return start;
    start = lineStart;
  }
  return start;
}
