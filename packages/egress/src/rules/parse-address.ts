/** IP addresses as numbers, from the canonical text of URL parsers and resolvers. */

export interface Address {
  readonly version: 4 | 6;
  /** 4 or 16 numbers of 0 to 255. */
  readonly bytes: readonly number[];
  /** Canonical text, without brackets. */
  readonly text: string;
}

/** Undefined for anything except a dotted quad of plain decimals or an IPv6 address without a zone. */
export function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text);
}

function parseV4(text: string): Address | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? { version: 4, bytes, text } : undefined;
}

function parseV6(text: string): Address | undefined {
  if (!/^[0-9a-fA-F:.]{2,45}$/.test(text) || !URL.canParse(`http://[${text}]/`)) return undefined;
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [before = '', after] = canonical.split('::');
  const head = groupsOf(before);
  const tail = after === undefined ? [] : groupsOf(after);
  const zeros = Array.from<number>({ length: 8 - head.length - tail.length }).fill(0);
  const bytes = [...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 255]);
  return { version: 6, bytes, text: canonical };
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** The address of four bytes. */
export function v4Address(bytes: readonly number[]): Address {
  return { version: 4, bytes, text: bytes.join('.') };
}

export interface Prefix {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Parses `10.0.0.0/8` or `fc00::/7` for tables in this code; throws when the text is not a prefix. */
export function prefixOf(cidr: string): Prefix {
  const [base = '', bits = ''] = cidr.split('/');
  const address = parseAddress(base);
  if (!address) throw new Error(`${cidr} is no prefix`);
  return { bytes: address.bytes, bits: Number(bits) };
}

export function isWithin(bytes: readonly number[], prefix: Prefix): boolean {
  if (bytes.length !== prefix.bytes.length) return false;
  const whole = prefix.bits >> 3;
  if (!prefix.bytes.slice(0, whole).every((byte, at) => byte === bytes[at])) return false;
  const rest = 8 - (prefix.bits & 7);
  return rest === 8 || (bytes[whole] ?? 0) >> rest === (prefix.bytes[whole] ?? 0) >> rest;
}
