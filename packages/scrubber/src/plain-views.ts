/**
 * A text as a person reads it, for detectors that depend on word boundaries. Colours and other sequences of a terminal
 * are removed. An escaped line end, blank, sign or character (`\n`, `\u003d`, `%3D`, `\/`, escaped any number of times)
 * is decoded. Quotes stay escaped, because they show where a value ends.
 */
import { createView, type DecodedView } from './view-builder.ts';

const ESC = String.raw`(?:\x1b|\\{1,8}(?:[uU]001[bB]|[xX]1[bB]|033|e)|\^\[)`;
/**
 * CSI (colours), OSC (links, titles) and character sets (ECMA-48); also colours whose ESC a log has lost, and signs
 * without a width.
 */
const TERMINAL = [
  String.raw`${ESC}(?:\[[0-?]{0,48}[ -/]{0,4}[@-~]|\][^\x07\x1b\\\n]{0,256}(?:\x07|${ESC}\\{1,8})|[()][0-9A-B])`,
  String.raw`\[\d{1,3}(?:;\d{1,3}){0,8}m`,
  String.raw`[\u00ad\u200b\u2060\ufeff]`,
].join('|');
const ESCAPED = [
  String.raw`\\{1,8}(?:[nrtfbv /_=:@.-]|[uU][0-9a-fA-F]{4}|[xX][0-9a-fA-F]{2})`,
  '%(?:25){0,3}[0-7][0-9a-fA-F]',
  '&(?:amp;){0,3}(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,3}|#[xX][0-9a-fA-F]{1,2});',
].join('|');
const READABLE = new RegExp(`(${TERMINAL})|${ESCAPED}`, 'g');

const SIGNS: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  v: '\v',
  b: ' ',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** The characters before and after a sequence. */
const JOINED = /^[0-9A-Za-z] [0-9A-Za-z]$/;
/**
 * Empty when there is nothing to decode. When a terminal sequence is between two words that would otherwise be joined,
 * there is a second view in which sequences are blanks. Linear.
 */
export function plainViews(text: string): readonly DecodedView[] {
  const joined = readPlain(text, '');
  if (!joined) return [];
  const parted = joined.joinsWords ? readPlain(text, ' ') : undefined;
  return parted ? [joined.view, parted.view] : [joined.view];
}

/** Replaces each sequence of a terminal by `between`. */
function readPlain(text: string, between: '' | ' '): { view: DecodedView; joinsWords: boolean } | undefined {
  const view = createView(text);
  let joinsWords = false;
  for (const { index, 0: found, 1: sequence } of text.matchAll(READABLE)) {
    const end = index + found.length;
    view.replace(index, end, sequence === undefined ? signOf(found) : between);
    joinsWords ||= sequence !== undefined && JOINED.test(`${text[index - 1]} ${text[end]}`);
  }
  return view.at === 0 ? undefined : { view: view.finish(), joinsWords };
}

/** The character that one escape encodes. */
export function signOf(escaped: string): string {
  const [, hex, decimal] = /(?:[uUxX]|^%(?:25)*)([0-9a-fA-F]{1,6});?$|#(\d+);$/.exec(escaped) ?? [];
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (code <= 0x10_ffff) return String.fromCodePoint(code);
  const name = /[a-z]+(?=;$)|.$/.exec(escaped)?.[0] ?? '';
  return SIGNS[name] ?? name;
}
