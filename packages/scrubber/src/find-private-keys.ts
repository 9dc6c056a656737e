/** Private key blocks (PEM, OpenSSH, PGP, PuTTY): whole, cut at the end, or cut at the start. */
import type { Redaction } from './redaction.ts';

const HEADER = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const FOOTER = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PUTTY = /(?<=^Private-Lines: \d{1,4}\r?\n)(?:[A-Za-z0-9+/=]{1,80}\r?\n?){1,200}/gm;
/**
 * A key's body and its headers; `\n` written as two characters counts, because JSON contains keys in this form. A line may
 * start with the mark of a quotation, a comment or a line number.
 */
const BODY =
  /(?:[A-Za-z0-9+/=]|[\r\n \t]|\\[nr]|(?<=[\r\n][ \t]{0,8})[>|#*-]{1,2} |(?<=[\r\n][ \t]{0,8}\d{1,6})[:|]|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): ?[^\r\n\\]{0,120})*/y;
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
    const footer = footers[next];
    let end: number;
    if (footer && footer.start - body <= MAX_BLOCK) end = footer.end;
    else {
      BODY.lastIndex = body;
      end = body + (BODY.exec(text)?.[0].trimEnd().length ?? 0);
    }
    out.push({ start: header.index, end, kind: 'private_key' });
    covered = end;
  }
  for (const footer of footers) {
    const start = bodyBefore(text, footer.start);
    if (start < footer.start) out.push({ start, end: footer.end, kind: 'private_key' });
  }
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
