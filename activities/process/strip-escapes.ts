/**
 * Removes terminal escape sequences (ECMA-48: CSI, OSC and the short ones) from a text in one pass. Node's own
 * stripVTControlCharacters takes minutes for a megabyte of sequences that never end. Here each has a greatest length,
 * and a longer one is text.
 */

/** Parameters, and a final byte; or another character that ends it. */
const CONTROL = String.raw`\[(?:[ -?]{0,63}(?:[@-~]|(?=[^ -~])))?`;
/** OSC, DCS, SOS, PM, APC: a title, a link; they end with BEL or ESC \. */
const STRING = String.raw`[\]PX^_](?:[^\x07\x1b\n]{0,4095}(?:\x07|\x1b\\|(?=\x1b)))?`;
/** nF: an intermediate and one final byte; otherwise one final byte alone. */
const SHORT = String.raw`[ -/][^]?|[0-~]`;

const SEQUENCE = new RegExp(`\\x1b(?:${CONTROL}|${STRING}|${SHORT})?`, 'g');

export function stripEscapes(text: string): string {
  return text.replace(SEQUENCE, '');
}
