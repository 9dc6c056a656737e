/**
 * The encodings in which programs print a value: base64 (alone, inside other text, or twice), hex, form encoding;
 * and those of an address.
 */

export interface EncodedForm {
  readonly text: string;
  /** Only the part that does not depend on the surrounding text; the value's edges are mixed with their neighbours. */
  readonly isCore: boolean;
}

/** Shorter parts of a code would match texts that have nothing to do with the value. */
const MIN_CORE = 8;

/** Offsets in a group of three bytes. */
const LEADS = [0, 1, 2];

/** The value itself comes first. */
export function encodedForms(value: string): readonly EncodedForm[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const padded = bytes.toString('base64');
  const bare = padded.replace(/=+$/, '');
  const whole = [value, hex, hex.toUpperCase(), padded, bare, urlSafe(padded), urlSafe(bare)];
  // As a shell prints it that traces its commands.
  if (value.includes("'")) whole.push(value.replaceAll("'", "'\\''"));
  if (value.includes(' ')) whole.push(value.replaceAll(' ', '+'));
  const cores = bytes.length < MIN_CORE ? [] : LEADS.map((lead) => core(bytes, lead));
  // Of the code of a code, the part that a line's end behind the value leaves as it is.
  const twice = cores.slice(0, 1).flatMap((code) => LEADS.map((lead) => core(Buffer.from(code), lead)));
  return [
    ...whole.map((text) => ({ text, isCore: false })),
    ...[...cores, ...cores.map(urlSafe), ...twice]
      .filter((text) => text.length >= MIN_CORE)
      .map((text) => ({ text, isCore: true })),
  ];
}

/**
 * Inside other text (`user:secret`) a value starts at any of three offsets; whole groups of four characters are stable.
 */
function core(bytes: Buffer, lead: number): string {
  const shifted = Buffer.concat([Buffer.alloc(lead), bytes]);
  const end = Math.floor(shifted.length / 3) * 4;
  return shifted.toString('base64').slice(lead === 0 ? 0 : 4, end);
}

function urlSafe(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/** Dotted, dashed, decimal and reversed forms of an IPv4 address; others are unchanged. */
export function addressForms(address: string): readonly string[] {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address)?.slice(1);
  if (!parts) return [address];
  const decimal = parts.reduce((sum, part) => sum * 256 + Number(part), 0);
  const reversed = `${[...parts].reverse().join('.')}.in-addr.arpa`;
  return [address, parts.join('-'), reversed, ...(decimal >= 16_777_216 ? [String(decimal)] : [])];
}
