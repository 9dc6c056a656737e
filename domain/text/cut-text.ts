/** EX-5: text that is too long for a model is cut between characters, and the cut is marked. */

export interface CutText {
  readonly text: string;
  /** The uncut text; present only when something was cut. */
  readonly whole?: string;
}

/**
 * Keeps 70 % of the space for the beginning and 30 % for the end, where commands report their outcome. `bytes` limits
 * the result.
 */
export function cutText(text: string, bytes: number, keptAt: string): CutText {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return { text };
  const limit = bytes - 200;
  const head = wholeCharacters(encoded.subarray(0, Math.floor(limit * 0.7)));
  const tail = fromCharacter(encoded.subarray(encoded.length - Math.floor(limit * 0.3)));
  const cut = encoded.length - head.length - tail.length;
  const note = `\n\n[${cut} of ${encoded.length} bytes are left out here; the whole is kept at ${keptAt}]\n\n`;
  return { text: head.toString() + note + tail.toString(), whole: text };
}

function wholeCharacters(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && isContinuation(bytes[end - 1])) end -= 1;
  const lead = bytes[end - 1] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return end - 1 + length <= bytes.length ? bytes.subarray(0, end - 1 + length) : bytes.subarray(0, end - 1);
}

function fromCharacter(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
