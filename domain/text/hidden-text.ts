/** Characters that people do not see. People who decide see their codes, and models do not read them at all. */

/**
 * Format characters, variation selectors, tags, fillers, private use and noncharacters: Default_Ignorable_Code_Point
 * (UAX 44) and other characters without a shape.
 */
const INVISIBLE = '\\p{DI}\\p{Co}\\p{NChar}\\ufff9-\\ufffb\\u{13430}-\\u{1343f}';

/** Invisible characters and all controls except tab and line break. */
const HIDDEN = new RegExp(`[\\0-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029${INVISIBLE}]`, 'gu');

/** Returns JSON of the same value in which nothing is hidden. */
export function unhideJson(json: string): string {
  return json.replace(HIDDEN, (char) =>
    Array.from(
      { length: char.length },
      (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

export function showHidden(text: string, show: (code: string) => string = (code) => `⟨${code}⟩`): string {
  return text.replace(HIDDEN, (char) =>
    show(`U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`),
  );
}

/** Scripts whose spelling needs joiners or free variation selectors (Unicode 16, chapters 9, 12, 13 and 23.2). */
const JOINING =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Nko}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Tibt}\\p{scx=Mymr}\\p{scx=Khmr}]';

/** An invisible character where a script or an emoji needs it; only there it may stay. */
const NEEDED = [
  `(?<=(?!\\p{DI})${JOINING})[\\u200c\\u200d\\u180b-\\u180f](?![\\u200c\\u200d\\u180b-\\u180f])`,
  '(?<=[\\p{Extended_Pictographic}\\p{EMod}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\ufe0e\\ufe0f](?![\\ufe00-\\ufe0f])|(?<=[0-9#*])\\ufe0f(?=\\u20e3)',
].join('|');

const REMOVED = new RegExp(`(?<needed>${NEEDED})|[${INVISIBLE}]`, 'gu');

/**
 * ECMA-48 sequences that control a terminal. Those with a text of their own (OSC, DCS, SOS, PM, APC) match up to their
 * end.
 */
const TERMINAL_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]{0,100}[ -/]{0,10}[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f\n]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]{0,4}[0-Z\\^-~]/g;

/**
 * The visible part of a text from outside, for models and for storage. It has no terminal sequences, no control
 * characters except tab and line break, and no invisible characters that its scripts do not need. Other line ends
 * become a line feed, except CRLF. Idempotent.
 */
export function cleanOutsideText(text: string): string {
  if (/^[\t\n\x20-\x7e]*$/.test(text)) return text;
  const plain = text
    .toWellFormed()
    .replace(TERMINAL_SEQUENCES, '')
    .replace(/\r(?!\n)|[\u000b\u000c\u0085\u2028\u2029]/g, '\n')
    .replace(/[\u0000-\u0008\u000e-\u001f\u007f-\u009f]/g, '');
  return plain.replace(REMOVED, (_all, needed: string | undefined) => needed ?? '');
}
