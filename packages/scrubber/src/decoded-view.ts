/**
 * A text with its escapes decoded and its lines joined: `%2F`, `\u002d`, `\x41`, `\"`, `&#43;`, and base64 broken over
 * lines. Registered values are searched in it, and matches are mapped back.
 */
import { signOf } from './plain-views.ts';
import { createView, type DecodedView } from './view-builder.ts';

/** A continuation byte of UTF-8 in percent encoding. */
const MORE = '%[89abAB][0-9a-fA-F]';
/**
 * Group 1: a line's end, with the indent of the next line, and the sign before it in mail; 2: a character after a
 * backslash; 3: one of several bytes.
 */
const ESCAPE = new RegExp(
  [
    String.raw`((?:=?\r?\n|(?:\\r)?\\n)[ \t]{0,64}|\\r)`,
    String.raw`\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\([^\n])`,
    `(%[c-dC-D][0-9a-fA-F]${MORE}|%[eE][0-9a-fA-F]${MORE}${MORE}|%[fF][0-7]${MORE}${MORE}${MORE})`,
    '%[0-9a-fA-F]{2}',
    '&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});',
  ].join('|'),
  'g',
);

/** Undefined when the text has nothing to decode. Linear. */
export function decodedView(text: string): DecodedView | undefined {
  const view = createView(text);
  for (const { index, 0: found, 1: lineEnd, 2: character, 3: bytes } of text.matchAll(ESCAPE)) {
    let sign = character === 't' ? '\t' : character;
    if (lineEnd !== undefined) sign = '';
    view.replace(index, index + found.length, sign ?? (bytes ? fromBytes(bytes) : signOf(found)));
  }
  return view.at === 0 ? undefined : view.finish();
}

function fromBytes(escaped: string): string {
  try {
    return decodeURIComponent(escaped);
  } catch {
    // The syntax is valid, but it encodes no character.
    return '\ufffd';
  }
}

const BETWEEN_HEX = /(?<=[0-9a-fA-F])[\s:]{1,3}(?=[0-9a-fA-F]{2})/g;

/** Hex in columns (`46 41 4b`, `4641 4b45`, `46:41`) as one word in lower case. Linear. */
export function hexView(text: string): DecodedView {
  const view = createView(text);
  for (const { index, 0: between } of text.matchAll(BETWEEN_HEX))
    view.replace(index, index + between.length, '');
  const { text: joined, original } = view.finish();
  return { text: joined.replace(/[A-F]+/g, (letters) => letters.toLowerCase()), original };
}
