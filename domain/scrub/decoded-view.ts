/**
 * A text as it reads once its escapes are undone and its lines joined: `%2F`, `\u002d`, `\x41`, `\"`, `&#43;`, and
 * base64 broken over lines. Registered values are looked for in it, and what is found is mapped back.
 */
import { createView, type DecodedView } from './view-builder.ts';

const ESCAPE =
  /(?:\r?\n|(?:\\r)?\\n)[ \t]{0,64}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^\n]|%[0-9a-fA-F]{2}|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});/y;

const [LINE_END, RETURN, PERCENT, AMPERSAND, BACKSLASH] = [10, 13, 37, 38, 92];
/** An indented line goes on from the one before. */
const MAX_INDENT = 64;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Undefined when the text has nothing to decode. Linear. */
export function decodedView(text: string): DecodedView | undefined {
  if (!/[\\%\n]|&[a-z#]/.test(text)) return undefined;
  const view = createView(text);
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    // Most letters, at one look.
    if (code > BACKSLASH || !isSpecial(code)) {
      at++;
      continue;
    }
    const { piece, end } = code === LINE_END ? joined(text, at) : unescaped(text, at);
    if (end > at) view.replace(at, end, piece);
    at = Math.max(at + 1, end);
  }
  return view.at === 0 ? undefined : view.finish();
}

function isSpecial(code: number): boolean {
  return code === LINE_END || code === BACKSLASH || code === PERCENT || code === AMPERSAND || code === RETURN;
}

interface Piece {
  readonly piece: string;
  /** Where the original goes on; where it begins when nothing is to be replaced. */
  readonly end: number;
}

function joined(text: string, at: number): Piece {
  return { piece: '', end: afterBlanks(text, at + 1) };
}

function unescaped(text: string, at: number): Piece {
  ESCAPE.lastIndex = at;
  const escape = ESCAPE.exec(text)?.[0];
  return escape === undefined ? { piece: '', end: at } : decode(text, escape, at);
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (at - from < MAX_INDENT && (text[at] === ' ' || text[at] === '\t')) at++;
  return at;
}

const BETWEEN_HEX = /(?<=[0-9a-fA-F])[\s:]{1,3}(?=[0-9a-fA-F]{2})/g;

/** Hex that is printed in columns (`46 41 4b`, `4641 4b45`, `46:41`) as one word of small letters. Linear. */
export function hexView(text: string): DecodedView {
  const view = createView(text);
  for (const { index, 0: between } of text.matchAll(BETWEEN_HEX))
    view.replace(index, index + between.length, '');
  const { text: joined, original } = view.finish();
  return { text: joined.replace(/[A-F]+/g, (letters) => letters.toLowerCase()), original };
}

function decode(text: string, escape: string, index: number): Piece {
  const end = index + escape.length;
  if (escape[0] === '%') return decodePercent(text, index);
  if (escape[0] === '&') return { piece: entity(escape.slice(1, -1)), end };
  const body = escape.slice(1);
  if (escape[0] !== '\\' || /^[rn]/.test(body)) return { piece: '', end };
  if (/^[ux]./.test(body)) return { piece: String.fromCharCode(Number.parseInt(body.slice(1), 16)), end };
  return { piece: body === 't' ? '\t' : body, end };
}

function entity(name: string): string {
  if (!name.startsWith('#')) return ENTITIES[name] ?? '';
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return code <= 0x10_ffff ? String.fromCodePoint(code) : '';
}

/** One character of UTF-8 in percent form; a byte that begins none stands for itself. */
function decodePercent(text: string, index: number): Piece {
  const byte = (at: number): number =>
    text[at] === '%' ? Number.parseInt(text.slice(at + 1, at + 3), 16) : Number.NaN;
  const lead = byte(index);
  const more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  let code = more === 0 ? lead : lead & (0x3f >> more);
  for (let step = 1; step <= more; step++) {
    const next = byte(index + step * 3);
    if (Number.isNaN(next) || (next & 0xc0) !== 0x80)
      return { piece: String.fromCharCode(lead), end: index + 3 };
    code = (code << 6) | (next & 0x3f);
  }
  return { piece: code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd', end: index + 3 * (more + 1) };
}
